import type { Decision } from '../machines/agent-context.ts';
import { copyJson, isPlainObject } from '../messages/json.ts';
import type { StoredAgent } from './stored-agent.ts';

type Calls = StoredAgent['calls'] & {};
type Path = (string | number)[];
/** Where the text stands in the decision, where it ends in what is stored of its call, and how long it is. */
type Reference = [at: Path, end: Path, length: number];
/** A decision whose long texts stand in the agent inside its call. */
export type Referring<D extends { callId: string }> = D & { texts?: Reference[] };

/** Shorter texts take less than to say where they stand. */
const shortest = 40;
const said = ['input', 'output', 'reason'] as const;

const textsIn = (value: unknown, path: Path = []): [text: string, path: Path][] => {
  if (typeof value === 'string') return value.length < shortest ? [] : [[value, path]];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (!isPlainObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, [...path, key]));
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );

/** A copy in which another text stands there. */
const withTexts = <D extends object>(decision: D, texts: readonly (readonly [at: Path, text: string])[]): D => {
  const copy = copyJson(decision);
  for (const [at, text] of texts) {
    const above = valueAt(copy, at.slice(0, -1));
    const key = at.at(-1);
    if (typeof above === 'object' && above !== null && key !== undefined && Object.hasOwn(above, key))
      (above as Record<string | number, unknown>)[key] = text;
  }
  return copy;
};

const agentOf = (calls: Calls, callId: string): unknown => {
  const owner = Object.keys(calls).find((each) => callId.startsWith(`${each}-`));
  return owner === undefined ? undefined : calls[owner]?.agent;
};

/**
 * What was said with a decision on a call inside an agent is kept with the decision, for the agent's history goes with it. While the agent is
 * there it has the same words, and they stand there alone.
 */
export const writeSaidInside = <D extends Omit<Decision, 'inputHash'>>(
  decisions: readonly D[],
  calls: Calls,
): readonly Referring<D>[] => {
  if (!decisions.some((decision) => said.some((key) => decision[key] !== undefined))) return decisions;
  return decisions.map((decision) => {
    const { input, output, reason } = decision;
    const mine = textsIn({ input, output, reason });
    const agent = mine.length === 0 ? undefined : agentOf(calls, decision.callId);
    if (agent === undefined) return decision;
    const known = textsIn(agent);
    const texts = mine.flatMap(([text, at]): Reference[] => {
      const [, end] = known.find(([each]) => each.endsWith(text)) ?? [];
      return end === undefined ? [] : [[at, end, text.length]];
    });
    if (texts.length === 0) return decision;
    return {
      ...withTexts(
        decision,
        texts.map(([at]) => [at, '']),
      ),
      texts,
    };
  });
};

/** Throws `TypeError` where a text does not stand where it should. */
export const readSaidInside = <D extends { callId: string }>(
  decisions: readonly Referring<D>[],
  calls: Calls,
): readonly D[] =>
  decisions.map((decision) => {
    const { texts, ...rest } = decision;
    if (texts === undefined) return decision;
    const agent = agentOf(calls, decision.callId);
    if (!Array.isArray(texts) || !texts.every((each) => Array.isArray(each) && Array.isArray(each[1])))
      throw new TypeError(`the "texts" of the decision on call "${decision.callId}" are no references`);
    const found = texts.map(([at, end, length]): [Path, string] => {
      const text = valueAt(agent, end);
      if (typeof text !== 'string' || !Number.isInteger(length) || length < 1 || text.length < length)
        throw new TypeError(`what was said of call "${decision.callId}" does not stand in its agent`);
      return [at, text.slice(-length)];
    });
    return withTexts(rest as unknown as D, found);
  });
