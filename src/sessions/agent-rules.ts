import type { Clock } from '../actors/alarm.ts';
import type { AgentRules } from '../machines/rules.ts';
import { errorData } from '../errors.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { failureOutput, toToolOutput } from '../tools/tool-output.ts';
import type { AgentOptions } from './agent-options.ts';
import { newId } from './new-id.ts';

/** The options of an agent with every default in its place, as its charts read them. */
export const rulesOf = (options: AgentOptions, tools: ToolRegistry, clock: Clock): AgentRules => ({
  limits: { maxIterations: 40, maxConsecutiveErrors: 3, onLimit: 'finalize', ...options.limits },
  concurrency: options.concurrency ?? 8,
  hold: options.approvals?.hold ?? 'all',
  onMessage: options.approvals?.onMessage ?? 'queue',
  expireAfter: options.approvals?.expireAfter,
  autopilot: options.autopilot ?? true,
  stopOnUnknownTool: options.stopOnUnknownTool ?? false,
  stopGrace: options.stopGrace ?? 1000,
  retry: { attempts: 3, initialDelay: 500, maxDelay: 30_000, factor: 2, maxRetryAfter: 60_000, ...options.retry },
  fallbacks: options.fallback?.length ?? 0,
  hasStopWhen: options.stopWhen !== undefined,
  isKnown: (name) => tools.get(name) !== undefined,
  isSequential: (name) => tools.get(name)?.sequential ?? false,
  isAnsweredOutside: (name) => {
    const tool = tools.get(name);
    return tool !== undefined && tool.execute === undefined;
  },
  returnsDirect: (name) => tools.get(name)?.returnDirect ?? false,
  toolRetry: (name) => tools.get(name)?.retry ?? { attempts: 1, initialDelay: 0, maxDelay: 0 },
  toResult: (name, value) => {
    const { output, error } = toToolOutput(
      value,
      tools.get(name) ?? { name, maxResultChars: 100_000, toModelOutput: undefined },
    );
    if (error === undefined) return { status: 'ok', output: output ?? { type: 'text', value: '' } };
    return { status: 'failed', output: output ?? failureOutput(error), error: errorData(error) };
  },
  now: () => clock.now(),
  newId,
});
