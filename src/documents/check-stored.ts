import { isPlainObject } from '../messages/json.ts';
import type { Trust } from './check-context.ts';
import { messages, reply } from './context-shape.ts';
import { type Shape, listOf, nullable, objectOf, optional, recordOf, text, time } from './shape.ts';

/** As XState writes the state of a chart: `done`, or `{ done: 'answered' }`. */
const isStateValue = (value: unknown): boolean =>
  typeof value === 'string' ||
  (isPlainObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isStateValue));

const state: Shape = (value, path) => {
  if (value === undefined) return `"${path}" is missing`;
  return isStateValue(value) ? undefined : `"${path}" is not a state`;
};

const callRecord = objectOf({ callId: text, tool: text });

// Of the context only what the rest is derived from: all of it is looked at once it is whole.
const contextFields = {
  round: nullable(objectOf({ reply, calls: listOf(callRecord) })),
  lastRound: listOf(callRecord),
  turn: objectOf({}),
};

const agentFields = {
  state,
  context: objectOf({ ...contextFields, decisions: listOf(objectOf({})) }),
  deadline: optional(time),
  calls: optional(recordOf((value, path) => storedCall(value, path))),
  known: optional(objectOf({})),
};

const storedCall: Shape = objectOf({
  state,
  agent: optional((value, path) => storedInside(value, path)),
  known: optional(objectOf({})),
});

// The log of an agent inside a call stands as the change from the log above.
const storedInside: Shape = objectOf({ ...agentFields, context: objectOf(contextFields), messages });

const storedAgent: Shape = objectOf(agentFields);

/** Whether the parts are there that an agent is read from. */
export const partsProblem = (
  { messages: list, state: stored }: { messages: unknown; state: unknown },
  trust: Trust,
): string | undefined =>
  (trust === 'messages' ? undefined : messages(list, 'messages')) ?? storedAgent(stored, 'state');
