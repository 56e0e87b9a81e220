import { isPlainObject } from '../messages/json.ts';
import type { Told } from './protocol.ts';

type Check = (value: unknown) => boolean;

const anything: Check = () => true;
const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => Number.isFinite(value);
const truth: Check = (value) => typeof value === 'boolean';
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => check(item));
const mapOf =
  (check: Check): Check =>
  (value) =>
    isPlainObject(value) && Object.values(value).every((item) => check(item));
const shape = (fields: Record<string, Check>): Check => {
  const checks = Object.entries(fields);
  return (value) => isPlainObject(value) && checks.every(([name, check]) => check(value[name]));
};

const chart = shape({
  id: text,
  nodes: listOf(
    shape({
      id: text,
      key: text,
      type: text,
      parent: orNull(text),
      initial: orNull(text),
      invokes: listOf(shape({ id: text, src: orNull(text) })),
      tags: listOf(text),
      description: orNull(text),
    }),
  ),
  edges: listOf(
    shape({
      id: text,
      source: text,
      target: orNull(text),
      event: text,
      kind: text,
      label: text,
      guard: orNull(text),
      internal: truth,
      actions: listOf(text),
      description: orNull(text),
    }),
  ),
});

const tool = shape({ name: text, description: maybe(text), inputSchema: isPlainObject });
const agent = shape({ name: text, chart: text, tools: listOf(tool), limits: maybe(isPlainObject) });
const status: Check = (value) => ['active', 'done', 'error', 'stopped'].includes(value as string);
const error = shape({ name: text, message: text, code: maybe(text) });

const patch: Check = (value) => {
  if (!isPlainObject(value)) return false;
  if ('v' in value) return true;
  if ('s' in value) return text(value['s']);
  if ('l' in value) return patches(value['l']) && number(value['n']) && maybe(Array.isArray)(value['a']);
  return patches(value['o']) && maybe(listOf(text))(value['d']);
};
const patches = mapOf((value) => patch(value));

const inSession = { session: text, actor: text };

const events = {
  chart: shape({ key: text, chart }),
  agent: shape({ agent }),
  session: shape({ session: text, root: text, agent: maybe(text) }),
  actor: shape({
    ...inSession,
    parent: orNull(text),
    id: text,
    src: text,
    chart: orNull(text),
    states: listOf(text),
  }),
  step: shape({ ...inSession, event: text, states: listOf(text), edges: listOf(text) }),
  ignored: shape({ ...inSession, event: text }),
  snapshot: shape({ ...inSession, status, patch: maybe(patch), error: maybe(error), gone: maybe(listOf(text)) }),
  delta: shape({ session: text, kind: text, text, callId: maybe(text), tool: maybe(text), index: maybe(number) }),
  said: shape({ ...inSession, what: text }),
  failure: shape({ where: text, message: text }),
} satisfies Record<Told['type'], Check>;

/** An event as this version writes it, or of a kind that a later one writes: nothing that reads events can stumble over it. */
export const isEvent = (line: Record<string, unknown>): boolean => {
  const { type, at } = line;
  if (typeof type !== 'string' || !number(at)) return false;
  const check = Object.hasOwn(events, type) ? events[type as Told['type']] : anything;
  return check(line);
};

const step = shape({
  seq: number,
  at: number,
  event: text,
  edges: listOf(text),
  from: listOf(text),
  to: listOf(text),
});

const session = shape({
  id: text,
  agent: maybe(text),
  root: text,
  startedAt: number,
  changedAt: number,
  seq: number,
  actors: mapOf(
    shape({
      key: text,
      id: text,
      parent: orNull(text),
      src: text,
      chart: orNull(text),
      status,
      states: listOf(text),
      startedAt: number,
      endedAt: maybe(number),
      step: maybe(step),
      move: maybe(step),
      stays: listOf(shape({ state: text, at: number })),
      error: maybe(error),
    }),
  ),
  streams: listOf(shape({ kind: text, text, callId: maybe(text), tool: maybe(text), index: maybe(number) })),
  said: listOf(shape({ at: number, actor: text, what: text })),
});

/** A whole view, as it stands in a recording that begins late. */
export const isView = shape({
  seq: number,
  at: number,
  charts: mapOf(chart),
  agents: mapOf(agent),
  sessions: mapOf(session),
  failures: shape({ count: number, last: maybe(shape({ where: text, message: text })) }),
});
