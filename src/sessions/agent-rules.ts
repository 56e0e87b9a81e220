import type { Clock } from '../actors/alarm.ts';
import type { AgentRules } from '../machines/rules.ts';
import { errorData } from '../errors.ts';
import { isProvided } from '../tools/call.ts';
import type { ToolFinder } from '../tools/tool-finder.ts';
import { outputToolName } from '../tools/output-tool.ts';
import { failureOutput } from '../tools/failure-output.ts';
import { toToolOutput } from '../tools/tool-output.ts';
import type { AgentOptions } from './agent-options.ts';
import { newId } from './new-id.ts';

/** One model that cannot be held to a schema is enough: which one will answer is not known before. */
export const needsAnswerTool = ({ model, fallback = [] }: AgentOptions): boolean =>
  [model, ...fallback].some(({ canOutput }) => canOutput !== true);

/** The options of an agent with every default in its place, as its charts read them. */
export const rulesOf = (options: AgentOptions, tools: ToolFinder, clock: Clock): AgentRules => ({
  limits: { maxIterations: 40, maxConsecutiveErrors: 3, onLimit: 'finalize', ...options.limits },
  concurrency: options.concurrency ?? 8,
  hold: options.approvals?.hold ?? 'all',
  onMessage: options.approvals?.onMessage ?? 'queue',
  expireAfter: options.approvals?.expireAfter,
  autopilot: options.autopilot ?? true,
  output: options.output === undefined ? undefined : needsAnswerTool(options) ? { tool: outputToolName } : {},
  stopOnUnknownTool: options.stopOnUnknownTool ?? false,
  stopGrace: options.stopGrace ?? 1000,
  retry: { attempts: 3, initialDelay: 500, maxDelay: 30_000, factor: 2, maxRetryAfter: 60_000, ...options.retry },
  fallbacks: options.fallback?.length ?? 0,
  loopDetection: { threshold: 3, stop: false, ...options.loopDetection },
  isPolling: (ref) => tools.find(ref)?.polling ?? false,
  hasStopWhen: options.stopWhen !== undefined,
  isKnown: (ref) => tools.find(ref) !== undefined,
  needsCheck: (ref) => {
    const tool = tools.find(ref);
    if (tool?.execute === undefined || tool.agent !== undefined) return true;
    return tool.needsApproval !== false || options.approvals?.policy !== undefined;
  },
  // Of a tool that its provider has not given again yet nothing is known: it waits for its turn.
  isSequential: (ref) => tools.find(ref)?.sequential ?? isProvided(ref),
  isAnsweredOutside: (ref) => {
    const tool = tools.find(ref);
    return tool !== undefined && tool.execute === undefined;
  },
  returnsDirect: (ref) => tools.find(ref)?.returnDirect ?? false,
  isAgent: (ref) => tools.find(ref)?.agent !== undefined,
  agentMessage: (ref, input) => tools.find(ref)?.agent?.messageOf(input) ?? '',
  toolRetry: (ref) => tools.find(ref)?.retry ?? { attempts: 1, initialDelay: 0, maxDelay: 0 },
  toResult: (ref, value) => {
    const { output, error } = toToolOutput(
      value,
      tools.find(ref) ?? { name: ref.tool, maxResultChars: 100_000, toModelOutput: undefined },
    );
    if (error === undefined) return { status: 'ok', output: output ?? { type: 'text', value: '' } };
    return { status: 'failed', output: output ?? failureOutput(error), error: errorData(error) };
  },
  tellsTurns: (options.contextProviders?.length ?? 0) > 0 || options.history !== undefined,
  keepsElsewhere: options.history !== undefined,
  forgetTools: (changes) => tools.forget(changes),
  now: () => clock.now(),
  newId,
});
