import { AgentError } from '../errors.ts';
import { checkMessages } from '../messages/check-message.ts';
import type { Message } from '../messages/message.ts';
import type { Tool } from '../tools/tool.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import type { ProvidedContext } from './context-provider.ts';
import { type Bound, checkGiven, either, isA, isList, isObject } from './option-bounds.ts';

/** What a provider gave, checked. */
export interface Provided {
  instructions?: string | undefined;
  messages: Message[];
  tools: Tool[];
  store: boolean;
}

const rules = {
  instructions: isA('string'),
  messages: either(isA('string'), isObject),
  tools: isList,
  store: isA('boolean'),
} satisfies Record<keyof ProvidedContext, Bound>;

const checkTool = (tool: Tool): Tool => {
  if (tool.agent !== undefined || tool.execute === undefined) {
    const what = tool.agent === undefined ? 'has no execute' : 'is an agent';
    throw new AgentError(
      'invalid-tool',
      `the tool "${tool.name}" ${what}; give it to the agent itself, in tools or extraTools`,
    );
  }
  return tool;
};

/** Throws what is wrong with it. */
export const checkProvided = (given: ProvidedContext | undefined): Provided => {
  if (given === undefined || given === null) return { messages: [], tools: [], store: false };
  checkGiven(given, rules, 'beforeTurn');
  const { instructions, messages, tools = [], store = false } = given;
  const registry = createToolRegistry(tools);
  return {
    instructions,
    messages:
      messages === undefined || (Array.isArray(messages) && messages.length === 0) ? [] : checkMessages(messages),
    tools: registry
      .names()
      .flatMap((name) => registry.get(name) ?? [])
      .map(checkTool),
    store,
  };
};
