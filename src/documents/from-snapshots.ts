import type { StateValue } from 'xstate';
import { digest } from '../machines/digest.ts';
import { canonicalJson, isPlainObject } from '../messages/json.ts';
import { rememberedInDecisions } from './remembered-in-decisions.ts';
import { type Seen, messagesOf, writeAgent } from './write-agent.ts';

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown, path: string): Fields => {
  if (!isPlainObject(value)) throw new TypeError(`"${path}" is not an object`);
  return value;
};

const withoutStopping = (context: Fields): Fields => {
  const { turn } = context;
  if (!isPlainObject(turn) || turn['outcome'] === undefined) return context;
  const { stopping: _over, ...ended } = turn;
  return { ...context, turn: ended };
};

/** Version 1 kept with a decision what the history has as well, and of a turn that is over that it was about to end. */
const contextOf = (given: unknown): unknown => {
  if (!isPlainObject(given) || !Array.isArray(given['decisions'])) return given;
  const context = rememberedInDecisions(withoutStopping(given));
  const ofAgent = String(context['callPrefix']).length;
  const decisions = (context['decisions'] as unknown[]).map((decision) => {
    const { input, output, reason, ...rest } = fieldsOf(decision, 'decisions');
    const given = output === undefined ? input : output;
    const isInside = String(rest['callId']).slice(ofAgent).includes('-');
    return {
      ...rest,
      ...(given === undefined ? {} : { digest: digest(canonicalJson(given)) }),
      ...(isInside ? { input, output, reason } : {}),
    };
  });
  return { ...context, decisions };
};

const see = (src: unknown, given: unknown, path: string): Seen => {
  const { value, context, children = {}, input, known } = fieldsOf(given, path);
  return {
    src: String(src),
    value: value as StateValue,
    context: contextOf(context),
    children: Object.fromEntries(
      Object.entries(fieldsOf(children, `${path}.children`)).map(([id, child]) => {
        const at = `${path}.children.${id}`;
        const inner = fieldsOf(child, at);
        return [id, see(inner['src'], inner['snapshot'], `${at}.snapshot`)];
      }),
    ),
    input,
    ...(known === undefined ? {} : { known }),
  };
};

/** Version 1 held what XState persists: every value in each of the actors that had it. */
export const fromSnapshots = ({ snapshot, ...document }: Fields): Fields => {
  const seen = see('agent', snapshot, 'snapshot');
  const { sessionId, messages } = fieldsOf(seen.context, 'snapshot.context');
  if (!Array.isArray(messages)) throw new TypeError('"snapshot.context.messages" are not an array');
  return { ...document, machineVersion: 3, sessionId, messages: messagesOf(seen), state: writeAgent(seen) };
};
