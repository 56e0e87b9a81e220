import { isPlainObject } from '../messages/json.ts';
import { rememberedInDecisions } from './remembered-in-decisions.ts';

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (isPlainObject(value) ? value : {});
const whole = (value: unknown): unknown[] => ['=', value];

/** What ended a turn, without what only said that it was about to end. */
const turnOf = ({ stopping, ...turn }: Fields, isInside: boolean): Fields => {
  const { outcome } = turn;
  const ended = fieldsOf(outcome);
  const isErrorLimit = ended['type'] === 'failed' && ended['errors'] !== undefined;
  return {
    ...turn,
    ...(outcome === undefined ? {} : { outcome: isErrorLimit ? { ...ended, error: whole(ended['error']) } : outcome }),
    ...(stopping === undefined || outcome !== undefined ? {} : { stopping: isInside ? whole(stopping) : stopping }),
  };
};

const recordsOf = (round: unknown): Fields[] => {
  const { calls } = fieldsOf(round);
  return Array.isArray(calls) ? calls.map((call: unknown) => fieldsOf(call)) : [];
};

/** What was left out of a call's change means what it meant. */
const changeOf = (given: unknown, isStopping: boolean, isWaiting: boolean): unknown => {
  const change = fieldsOf(given);
  return {
    ...change,
    ...(isStopping && change['stopping'] === undefined ? { stopping: ['-'] } : {}),
    ...(!isWaiting && change['waiting'] !== undefined && change['inputHash'] === undefined
      ? { inputHash: whole('') }
      : {}),
  };
};

const agentOf = (given: unknown, isInside: boolean): unknown => {
  if (!isPlainObject(given) || !isPlainObject(given['context'])) return given;
  const { context: before, calls, ...agent } = given;
  const context = rememberedInDecisions(before as Fields);
  const { turn, decisions, round } = context;
  const isStopping = fieldsOf(turn)['stopping'] !== undefined;
  const waiting = new Set(
    recordsOf(round).flatMap(({ callId, waiting: needs }) => (needs === undefined ? [] : [callId])),
  );
  return {
    ...agent,
    context: {
      ...context,
      ...(isPlainObject(turn) ? { turn: turnOf(turn, isInside) } : {}),
      ...(isInside ? { decisions: whole(decisions) } : {}),
    },
    ...(isPlainObject(calls)
      ? {
          calls: Object.fromEntries(
            Object.entries(calls).map(([callId, given]) => {
              const { agent: inside, context: change, ...call } = fieldsOf(given);
              return [
                callId,
                {
                  ...call,
                  context: changeOf(change, isStopping, waiting.has(callId)),
                  ...(inside === undefined ? {} : { agent: agentOf(inside, true) }),
                },
              ];
            }),
          ),
        }
      : {}),
  };
};

/** Version 2 kept some values in each of the places that had them: hashes, reasons, the words of errors, what is remembered. */
export const fromRepeats = (document: Fields): Fields => ({
  ...document,
  machineVersion: 3,
  state: agentOf(document['state'], false),
});
