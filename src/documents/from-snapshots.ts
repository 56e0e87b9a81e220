import type { StateValue } from 'xstate';
import { digest } from '../machines/digest.ts';
import { canonicalJson, isPlainObject } from '../messages/json.ts';
import { type Seen, messagesOf, writeAgent } from './write-agent.ts';

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown, path: string): Fields => {
  if (!isPlainObject(value)) throw new TypeError(`"${path}" is not an object`);
  return value;
};

/** Version 1 kept with a decision what the history has as well. */
const withDigests = (context: unknown): unknown => {
  if (!isPlainObject(context) || !Array.isArray(context['decisions'])) return context;
  const ofAgent = String(context['callPrefix']).length;
  const decisions = context['decisions'].map((decision: unknown) => {
    const { input, output, reason, ...rest } = fieldsOf(decision, 'decisions');
    const { remembered } = rest;
    const given = output === undefined ? input : output;
    const isInside = String(rest['callId']).slice(ofAgent).includes('-');
    return {
      ...rest,
      ...(given === undefined ? {} : { digest: digest(canonicalJson(given)) }),
      ...(isInside ? { input, output, reason } : {}),
      ...(isPlainObject(remembered) && typeof remembered['input'] === 'string'
        ? { remembered: { input: digest(remembered['input']) } }
        : {}),
    };
  });
  return { ...context, decisions };
};

const see = (src: unknown, given: unknown, path: string): Seen => {
  const { value, context, children = {}, input, known } = fieldsOf(given, path);
  return {
    src: String(src),
    value: value as StateValue,
    context: withDigests(context),
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
  return { ...document, machineVersion: 2, sessionId, messages: messagesOf(seen), state: writeAgent(seen) };
};
