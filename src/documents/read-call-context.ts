import type { ToolCallContext } from '../machines/tool-call-context.ts';
import { isPlainObject } from '../messages/json.ts';
import type { CallNeeds } from '../tools/call.ts';
import { applied } from './change.ts';
import { likelyWaiting, withOwn } from './derived.ts';
import { withHashes, withWaitingHash, withoutHashes, withoutWaitingHash } from './input-hashes.ts';

const readKey = (change: Readonly<Record<string, unknown>>, key: string, likely: unknown): unknown => {
  if (!Object.hasOwn(change, key)) return likely;
  const inner = change[key];
  return Array.isArray(inner) && inner[0] === '-' ? undefined : applied(likely, inner);
};

/** The context of a call, from its change and what its round says of it. */
export const readCallContext = (change: unknown, likely: ToolCallContext): ToolCallContext => {
  if (change === undefined) return withOwn(likely, likely);
  if (!isPlainObject(change)) throw new TypeError(`the context of call "${likely.call.callId}" is no change`);
  // What the rest of the change stands on comes first.
  const { call } = likely;
  const base = (key: string, fallback: unknown): unknown => (Object.hasOwn(change, key) ? fallback : undefined);
  const phase = readKey(change, 'phase', likely.phase) as ToolCallContext['phase'];
  const waited = likely.waiting ?? (base('waiting', likelyWaiting(call)) as CallNeeds | undefined);
  const marked = readKey(change, 'waiting', waited && withoutWaitingHash(waited, call.input)) as CallNeeds | undefined;
  const waiting = isPlainObject(marked) ? withWaitingHash(marked, call.input) : marked;
  const edited = readKey(
    change,
    'edited',
    likely.edited ?? base('edited', waiting?.input ?? call.input),
  ) as ToolCallContext['edited'];
  return withHashes(applied(withoutHashes(withOwn(likely, { phase, waiting, edited })), change) as ToolCallContext);
};
