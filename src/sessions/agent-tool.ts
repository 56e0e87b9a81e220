import type { AgentMachine } from '../machines/agent.ts';
import type { InputSchema, SchemaOutput } from '../tools/input-schema.ts';
import { type Tool, type ToolOptions, tool } from '../tools/tool.ts';
import { checkAgentToolOptions } from './check-options.ts';

/** How an agent is offered as a tool. Without `inputSchema` the model gives one text, `{ prompt }`. */
export interface AgentToolOptions<S extends InputSchema = InputSchema> extends Pick<
  ToolOptions<S>,
  'name' | 'description' | 'needsApproval' | 'sequential' | 'returnDirect' | 'maxResultChars'
> {
  inputSchema?: S;
  /** What the agent is asked. Default: `prompt`, or the arguments as JSON. */
  message?: (input: SchemaOutput<S>) => string;
}

const promptSchema = {
  jsonSchema: {
    type: 'object',
    properties: { prompt: { type: 'string', description: 'What the agent is to do, with all that it needs to know' } },
    required: ['prompt'],
    additionalProperties: false,
  },
  validate: (input: unknown): { prompt: string } => {
    const { prompt } = input as { prompt?: unknown };
    if (typeof prompt === 'string' && prompt.trim() !== '') return { prompt };
    const issues = [{ path: ['prompt'], message: 'expected a text that is not empty' }];
    throw Object.assign(new TypeError('prompt: expected a text'), { issues });
  },
} satisfies InputSchema;

const defaultMessage = (input: unknown): string =>
  typeof input === 'object' && input !== null && 'prompt' in input && typeof input.prompt === 'string'
    ? input.prompt
    : JSON.stringify(input);

/** A tool whose calls are answered by a turn of an agent: an actor inside the call, in the same session document. */
export const createAgentTool = <S extends InputSchema>(machine: AgentMachine, given: AgentToolOptions<S>): Tool => {
  checkAgentToolOptions(given);
  const { message, inputSchema, ...options } = given;
  return Object.freeze<Tool>({
    // The chart never runs `execute` of an agent; it stands for "not answered by the application".
    ...tool<InputSchema>({
      ...(options as ToolOptions),
      inputSchema: inputSchema ?? promptSchema,
      execute: () => undefined,
    }),
    agent: Object.freeze({ machine, messageOf: (message ?? defaultMessage) as (input: unknown) => string }),
  });
};
