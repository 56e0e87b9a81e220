import { isPlainObject, type JsonValue } from '../messages/json.ts';
import type { Patch } from './patch.ts';
import type { ProtocolEvent } from './protocol.ts';
import { hideSecrets, isSecretKey } from './secrets.ts';
import { previewLimits, toPlain } from './to-plain.ts';
import type { ActorView, SessionView, ViewState } from './view-state.ts';

/** One event as one line of JSON. Never throws: what has no form is told as a failure with the same number. */
export const encodeEvent = (event: ProtocolEvent): string => JSON.stringify(encodable(event));

/** An event that has a JSON form. Never throws. */
export const encodable = (event: ProtocolEvent): Record<string, unknown> => {
  try {
    return { ...plainEvent(event) };
  } catch {
    const { seq, at, type } = event;
    return { seq, at, type: 'failure', where: 'encode', message: `an event "${type}" has no JSON form` };
  }
};

const plainEvent = (event: ProtocolEvent): object => {
  switch (event.type) {
    case 'actor':
      return event.context === undefined ? event : { ...event, context: toPlain(event.context) };
    case 'step':
    case 'ignored':
      return event.data === undefined ? event : { ...event, data: toPreview(event.data) };
    case 'snapshot': {
      const { patch, output } = event;
      return {
        ...event,
        ...(patch === undefined ? {} : { patch: plainPatch(patch, '') }),
        ...(output === undefined ? {} : { output: toPlain(output, previewLimits) }),
        ...(event.error === undefined ? {} : { error: toPlain(event.error) }),
      };
    }
    case 'delta':
      return { ...event, text: textOf(toPlain(event.text)) };
    case 'said':
      return { ...event, data: toPlain(event.data) };
    case 'agent':
      // Schemas and limits are the application's own, and may be anything.
      return JSON.parse(JSON.stringify(event)) as object;
    case 'failure':
      return { ...event, message: hideSecrets(event.message) };
    case 'chart':
    case 'session':
      return event;
    default:
      return event satisfies never;
  }
};

/** The fields of an event without its type, which stands beside it. */
const toPreview = (data: unknown): JsonValue => {
  const plain = toPlain(data, previewLimits);
  if (!isPlainObject(plain)) return plain;
  const { type: _type, ...fields } = plain;
  return fields;
};

const textOf = (plain: JsonValue): string => {
  if (typeof plain === 'string') return plain;
  const { $cut, $hidden } = plain as { $cut?: string; $hidden?: string };
  return $cut ?? $hidden ?? '';
};

const plainPatch = (patch: Patch, key: string): Patch => {
  if (key !== '' && isSecretKey(key)) return { v: toPlain('', undefined, key) };
  if ('v' in patch) return { v: toPlain(patch.v) };
  if ('s' in patch) return { s: textOf(toPlain(patch.s)) };
  if ('l' in patch) {
    return {
      ...patch,
      l: plainPatches(patch.l),
      ...(patch.a === undefined ? {} : { a: toPlain(patch.a) as unknown[] }),
    };
  }
  return { ...patch, o: plainPatches(patch.o) };
};

const plainPatches = (patches: Record<string, Patch>): Record<string, Patch> =>
  Object.fromEntries(Object.entries(patches).map(([key, patch]) => [key, plainPatch(patch, key)]));

/** A whole view, for whoever comes late. Never throws: it is made beside the work of agents, and a fault would end their process. */
export const encodeView = (view: ViewState): string => {
  const entries = Object.entries(view.sessions).map(([id, session]): [string, SessionView] => [
    id,
    plainSession(session),
  ]);
  // Ids of sessions are data: `__proto__` is one.
  const sessions: Record<string, SessionView> = Object.fromEntries(entries);
  const { count, last } = view.failures;
  const failures = { count, ...(last === undefined ? {} : { last: { ...last, message: hideSecrets(last.message) } }) };
  return JSON.stringify({ ...view, agents: plainAgents(view.agents), sessions, failures });
};

/** Without those whose schemas or limits have no JSON form: their event is told as a failure as well. */
const plainAgents = (agents: ViewState['agents']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(agents).flatMap(([key, agent]) => {
      try {
        return [[key, JSON.parse(JSON.stringify(agent)) as unknown]];
      } catch {
        return [];
      }
    }),
  );

const plainSession = (session: SessionView): SessionView => {
  const actors: Record<string, ActorView> = {};
  for (const [key, actor] of Object.entries(session.actors)) actors[key] = plainActor(actor);
  return {
    ...session,
    actors,
    streams: session.streams.map((stream) => ({ ...stream, text: textOf(toPlain(stream.text)) })),
    said: session.said.map((each) => ({ ...each, data: toPlain(each.data) })),
  };
};

const plainActor = (actor: ActorView): ActorView => {
  const { context, output, error } = actor;
  return {
    ...actor,
    context: context === undefined ? undefined : toPlain(context),
    ...(output === undefined ? {} : { output: toPlain(output, previewLimits) }),
    ...(error === undefined ? {} : { error: toPlain(error) as unknown as typeof error }),
  };
};
