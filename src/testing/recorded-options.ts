import type { ChatModel } from '../models/chat-model.ts';
import type { AgentOptions } from '../sessions/agent-options.ts';
import { memoryStore } from '../stores/memory-store.ts';
import type { RunTool } from '../tools/tool-middleware.ts';
import type { Tool } from '../tools/tool.ts';

/** The tool with all that decides whether and when it runs, and nothing that it does. */
const silent = ({ agent: _agent, ...tool }: Tool): Tool => ({
  ...tool,
  execute: tool.execute === undefined ? undefined : () => undefined,
  toModelOutput: undefined,
  timeout: undefined,
  retry: { ...tool.retry, attempts: 1 },
});

/** An agent's options with a model and results that come from elsewhere; nothing of it has an effect. */
export const recordedOptions = (
  given: AgentOptions,
  { generate, run }: { generate: ChatModel['generate']; run: RunTool },
): AgentOptions => {
  const { modelMiddleware: _model, toolMiddleware: _tools, agentMiddleware: _turns, ...withoutMiddleware } = given;
  const { contextProviders: _providers, history: _history, compaction: _compaction, ...rest } = withoutMiddleware;
  const { tools, extraTools, approvals, ...options } = rest;
  const { authorize: _authorize, ...ofApprovals } = approvals ?? {};
  const { name, canOutput = false, needsTools = false } = given.model;
  return {
    ...options,
    model: { name, canOutput, needsTools, generate },
    store: memoryStore(),
    toolMiddleware: [() => run],
    ...(tools === undefined ? {} : { tools: tools.map((tool) => silent(tool)) }),
    ...(extraTools === undefined ? {} : { extraTools: extraTools.map((tool) => silent(tool)) }),
    ...(approvals === undefined ? {} : { approvals: ofApprovals }),
  };
};
