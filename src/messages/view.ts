import { createDistinctIds } from './distinct-ids.ts';
import { isPlainObject } from './json.ts';
import type { Message, Part, ToolCallPart, ToolResultPart } from './message.ts';
import { isEmptyMessage, isEmptyPart, providerCallIdOf, withoutOwnOptions } from './own-options.ts';
import { wellFormed, wellFormedCopy } from './well-formed.ts';

/** What a message becomes whatever stands around it, and its last form with ids. */
interface Prepared {
  message: Message | undefined;
  calls: { id: string; wanted: string }[];
  results: string[];
  sent?: { ids: string[]; message: Message };
}

/** The ids under which the calls of one round were sent; `next` is the one that waits for a result. */
interface Sent {
  round: number;
  ids: string[];
  next: number;
}

/** An adapter needs an object; unreadable text goes back to the model under a name that says so. */
const inputOf = (input: unknown): unknown => {
  if (isPlainObject(input)) return input;
  const raw = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
  return ['', 'null'].includes(raw.trim()) ? {} : { unreadable_arguments: raw };
};

const cleanPart = <T extends Part>(part: T): T => {
  const foreign = withoutOwnOptions(part);
  if (foreign.type !== 'tool-call' || isPlainObject(foreign.input)) return foreign;
  return { ...foreign, input: inputOf(foreign.input) };
};

const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

/** Parts without ours and without the empty ones; the same array where nothing changes. */
const cleanParts = <T extends Part>(parts: T[]): T[] => {
  const clean = parts.filter((part) => !isEmptyPart(part)).map((part) => cleanPart(part));
  return sameItems(clean, parts) ? parts : clean;
};

/** The message with its array of parts mapped; the same message where the map gives back the same array. */
const mapContent = (message: Message, map: <T extends Part>(parts: T[]) => T[]): Message => {
  if (typeof message.content === 'string') return message;
  switch (message.role) {
    case 'system':
      return message;
    case 'user': {
      const content = map(message.content);
      return content === message.content ? message : { ...message, content };
    }
    case 'assistant': {
      const content = map(message.content);
      return content === message.content ? message : { ...message, content };
    }
    case 'tool': {
      const content = map(message.content);
      return content === message.content ? message : { ...message, content };
    }
    default:
      return message satisfies never;
  }
};

const isCall = (part: Part): part is ToolCallPart => part.type === 'tool-call';
const isResult = (part: Part): part is ToolResultPart => part.type === 'tool-result';

const prepare = (original: Message): Prepared => {
  if (isEmptyMessage(original)) return { message: undefined, calls: [], results: [] };
  // A copy, made once: an adapter that changes what it is given does not change the history.
  const clean = wellFormedCopy(mapContent(withoutOwnOptions(original), cleanParts));
  const parts: readonly Part[] = typeof original.content === 'string' ? [] : original.content;
  return {
    message: clean,
    calls: parts
      .filter(isCall)
      .map((part) => ({ id: part.toolCallId, wanted: wellFormed(providerCallIdOf(part) ?? part.toolCallId) })),
    results: parts.filter(isResult).map((part) => part.toolCallId),
  };
};

/** The message with its call ids, then its result ids, replaced. */
const withIds = (message: Message, ids: readonly string[], callCount: number): Message => {
  let call = 0;
  let result = callCount;
  return mapContent(message, (parts) => {
    const named = parts.map((part) => {
      const id = isCall(part) ? ids[call++] : isResult(part) ? ids[result++] : undefined;
      if (id === undefined || !('toolCallId' in part) || part.toolCallId === id) return part;
      return { ...part, toolCallId: id };
    });
    return sameItems(named, parts) ? parts : named;
  });
};

/** Makes the view of one history again and again, while it grows. */
export type Viewer = (messages: readonly Message[]) => Message[];

const isBeginning = (seen: readonly Message[], messages: readonly Message[]): boolean => {
  for (let index = 0; index < seen.length; index += 1) if (seen[index] !== messages[index]) return false;
  return true;
};

/**
 * What is sent to a model: call ids are the provider's own (ours where it gave none), distinct over the whole request; our notes,
 * empty text and empty messages are left out; call inputs are objects; strings are well-formed.
 *
 * Expects a history as `repairHistory` gives it and keeps its pairs; never throws for another. A result belongs to the call with its
 * id that stands before it and next to it, so ids may repeat in later rounds (B51). A longer history begins with the
 * view of the shorter one, message by message the same objects: prompt caches stay warm, adapters may cache by identity.
 * Never mutates, and shares nothing with the history; a message must not change after it was given.
 */
export const createViewer = (): Viewer => {
  let made = createView();
  return (messages) => {
    if (!isBeginning(made.seen, messages)) made = createView(made);
    for (let round = made.seen.length; round < messages.length; round += 1) {
      const original = messages[round];
      if (original !== undefined) made.add(original, round);
    }
    return [...made.view];
  };
};

/** The view of one history, once. */
export const viewOf: Viewer = (messages) => createViewer()(messages);

interface View {
  /** The messages of which `view` is made, and what each of them became. */
  seen: Message[];
  items: Prepared[];
  view: Message[];
  add(original: Message, round: number): void;
}

/** What stands in an earlier view of the history is prepared already. */
const createView = (before?: View): View => {
  const seen: Message[] = [];
  const items: Prepared[] = [];
  const view: Message[] = [];
  const known = new Map(before?.seen.map((message, index) => [message, before.items[index]]));
  const distinct = createDistinctIds();
  const sent = new Map<string, Sent>();

  const add = (original: Message, round: number): void => {
    const item = known.get(original) ?? prepare(original);
    seen.push(original);
    items.push(item);
    if (item.message === undefined) return;
    if (item.calls.length === 0 && item.results.length === 0) {
      view.push(item.message);
      return;
    }
    const ids = item.calls.map(({ id, wanted }) => {
      const given = distinct(wanted);
      const known = sent.get(id);
      if (known?.round === round) known.ids.push(given);
      else sent.set(id, { round, ids: [given], next: 0 });
      return given;
    });
    for (const id of item.results) {
      const known = sent.get(id);
      ids.push(known?.ids[known.next] ?? wellFormed(id));
      if (known !== undefined && known.next < known.ids.length - 1) known.next += 1;
    }
    if (item.sent === undefined || !sameItems(item.sent.ids, ids))
      item.sent = { ids, message: withIds(item.message, ids, item.calls.length) };
    view.push(item.sent.message);
  };
  return { seen, items, view, add };
};
