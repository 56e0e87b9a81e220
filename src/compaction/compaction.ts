import { AgentError } from '../errors.ts';
import { repairHistory } from '../messages/history.ts';
import { isPlainObject } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { Compacted, Compaction, CompactionCall, CompactionRequest } from '../models/compaction.ts';
import { applyReaches } from './apply-reaches.ts';
import { startOfKept } from './keep.ts';
import { createMeasure, tokensCounted } from './measure.ts';
import { placed, reachOf, readMemory } from './reach.ts';
import type { Strategy } from './strategy.ts';

export interface CompactionOptions {
  /** What is sent is made shorter when it is longer than one of these; both are integers ≥ 1. */
  when: { tokens?: number; messages?: number };
  /** Tried in this order, until what is sent is short enough. Each at most once. */
  strategies: readonly Strategy[];
  /**
   * The tokens of these messages, by a tokenizer of yours. Default: what the provider counted at the last model call, and an estimate of what is
   * new since.
   */
  countTokens?: (messages: readonly Message[]) => number;
}

const invalid = (what: string): AgentError => new AgentError('invalid-option', `compaction: ${what}`);

const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0;

const checkOptions = ({ when, strategies }: CompactionOptions): void => {
  const bounds: [string, unknown][] = isPlainObject(when) ? Object.entries(when) : [];
  if (bounds.length === 0) throw invalid('option "when" needs tokens, messages or both');
  for (const [key, value] of bounds) {
    if (!['tokens', 'messages'].includes(key))
      throw invalid(`there is no option "when.${key}"; known: tokens, messages`);
    if (!Number.isInteger(value) || Number(value) < 1) throw invalid(`option "when.${key}" must be an integer ≥ 1`);
  }
  if (!isFilled(strategies)) throw invalid('option "strategies" needs one at least');
  const names = new Set<string>();
  for (const { name, keep } of strategies) {
    if (names.has(name)) throw invalid(`option "strategies" has "${name}" twice`);
    names.add(name);
    const limit = when.messages;
    if (limit !== undefined && 'messages' in keep && keep.messages >= limit)
      throw invalid(`"${name}" keeps ${keep.messages} messages, which is not below when.messages (${limit})`);
  }
};

/** Makes what is sent shorter where it gets long. What it did is kept in the session, so that it holds from then on and is not done again. */
export const compaction = (options: CompactionOptions): Compaction => {
  checkOptions(options);
  const { when, countTokens } = options;
  const strategies = [...options.strategies];

  const compact = async (request: CompactionRequest): Promise<Compacted> => {
    const messages = repairHistory(request.messages);
    const memory = readMemory(request.memory);
    const reaches = new Map(
      memory.reaches.flatMap((each) => placed(each, messages) ?? []).map((each) => [each.name, each]),
    );
    let sent = applyReaches(messages, strategies, reaches);

    const said = tokensCounted(request.usage);
    const measure = createMeasure(sent, said === memory.counted ? undefined : said, countTokens);
    const isTooLong = (): boolean =>
      sent.length > (when.messages ?? Infinity) || (when.tokens !== undefined && measure(sent) > when.tokens);

    const by: string[] = [];
    const errors: unknown[] = [];
    const calls: CompactionCall[] = [];
    for (const { name, keep, replace, sumUp } of strategies) {
      if (request.isTooLong !== true && !isTooLong()) break;
      const before = reaches.get(name);
      const from = before?.upTo ?? 0;
      const upTo = startOfKept(messages, keep);
      if (upTo <= from) continue;
      if (replace !== undefined && messages.slice(from, upTo).every((message) => replace(message) === message))
        continue;
      try {
        const firstSystem = messages.findIndex(({ role }) => role === 'system');
        const fresh = messages.slice(from, upTo).filter((message) => message !== messages[firstSystem]);
        const sum = fresh.length === 0 ? undefined : await sumUp?.(fresh, before?.text, request);
        if (sum !== undefined) calls.push(sum.call);
        reaches.set(name, reachOf(name, messages, upTo, sum?.text ?? before?.text));
        by.push(name);
        sent = applyReaches(messages, strategies, reaches);
      } catch (error) {
        request.signal.throwIfAborted();
        errors.push(error);
      }
    }
    return {
      messages: sent,
      by,
      ...(errors.length === 0 ? {} : { errors }),
      ...(calls.length === 0 ? {} : { calls }),
      ...(by.length === 0
        ? {}
        : {
            memory: {
              reaches: [...reaches.values()].map((each) => ({ ...each })),
              ...(said === undefined ? {} : { counted: said }),
            },
          }),
    };
  };
  return { compact };
};
