import type { JsonObject, JsonValue } from '../../messages/json.ts';
import { isObjectText } from './call-arguments.ts';
import { extraFields, mergeExtraFields } from './extra-fields.ts';
import { hasKeys, isJsonArray, isJsonObject } from './json-value.ts';

/** One call, put together. `id` and `name` are `''` where the server gave none; `text` is the argument text as it came. */
export interface AssembledCall {
  id: string;
  name: string;
  text: string;
  extra: JsonObject;
}

/** Argument text that one piece added to the call at `index`. */
export interface CallDelta {
  index: number;
  toolName: string;
  text: string;
}

export interface CallAssembly {
  /** Takes one `tool_calls` list of a delta. */
  add(pieces: JsonValue | undefined): CallDelta[];
  calls(): AssembledCall[];
}

interface Piece {
  /** The server's index, a key and not a position; absent on some servers. */
  slot: number | undefined;
  position: number;
  id: string;
  name: string;
  text: string;
  extra: JsonObject;
}

interface OpenCall {
  slot: number | undefined;
  id: string;
  names: string[];
  text: string;
  extra: JsonObject;
}

const placeholders = ['null', 'None', 'undefined'];

const named = (value: JsonValue | undefined): string =>
  typeof value === 'string' && !placeholders.includes(value) ? value : '';

const slotOf = (value: JsonValue | undefined): number | undefined => {
  const slot = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof slot === 'number' && Number.isInteger(slot) ? slot : undefined;
};

const argumentPiece = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const readPiece = (value: JsonObject, position: number): Piece => {
  const fn = isJsonObject(value.function) ? value.function : {};
  const inFunction = extraFields(fn, ['name', 'arguments']);
  return {
    slot: slotOf(value.index),
    position,
    id: named(value.id),
    name: named(fn.name),
    text: argumentPiece(fn.arguments),
    extra: {
      ...extraFields(value, ['id', 'type', 'index', 'function']),
      ...(hasKeys(inFunction) ? { function: inFunction } : {}),
    },
  };
};

/** A name with arguments, where the arguments of the call are whole already, is another call. `{}` may be a placeholder. */
const startsAnother = (call: OpenCall, piece: Piece): boolean =>
  piece.name !== '' && piece.text.trim() !== '' && !/^\s*\{\s*\}\s*$/.test(call.text) && isObjectText(call.text);

/** The call that a piece goes on with; `undefined` where it opens a new one. */
const continued = (calls: readonly OpenCall[], piece: Piece): OpenCall | undefined => {
  const candidates = piece.slot === undefined ? calls : calls.filter((call) => call.slot === piece.slot);
  const known = piece.id === '' ? undefined : candidates.findLast((call) => call.id === piece.id);
  const call = known ?? candidates.at(-1);
  if (call === undefined || startsAnother(call, piece)) return undefined;
  if (known !== undefined) return known;
  if (piece.id !== '' && call.id !== '') return undefined;
  const otherName = piece.name !== '' && (piece.position > 0 || !call.names.includes(piece.name));
  return piece.slot === undefined && otherName ? undefined : call;
};

/** Some servers repeat the name in every piece, some send the name itself in pieces: a known tool decides. */
const nameOf = (names: readonly string[], toolNames: ReadonlySet<string>): string => {
  const last = names.at(-1) ?? '';
  const joined = names.join('');
  if (names.every((name) => name === last) || (toolNames.has(last) && !toolNames.has(joined))) return last;
  return joined;
};

/**
 * Puts tool calls together from the pieces of a stream, in the order in which they began.
 *
 * A piece belongs to the call with its index; a new id there, or a name with arguments after a whole call, opens another call.
 * Without an index, the id decides, then the name. Empty strings, null and the text `null` count as absent.
 */
export const createCallAssembly = (toolNames: ReadonlySet<string>): CallAssembly => {
  const calls: OpenCall[] = [];

  const addPiece = (piece: Piece): CallDelta => {
    let call = continued(calls, piece);
    if (call === undefined) {
      call = { slot: piece.slot, id: '', names: [], text: '', extra: {} };
      calls.push(call);
    }
    if (call.id === '') call.id = piece.id;
    if (piece.name !== '') call.names.push(piece.name);
    call.text += piece.text;
    call.extra = mergeExtraFields(call.extra, piece.extra);
    return { index: calls.indexOf(call), toolName: nameOf(call.names, toolNames), text: piece.text };
  };

  return {
    add: (pieces) =>
      isJsonArray(pieces)
        ? pieces.filter(isJsonObject).map((piece, position) => addPiece(readPiece(piece, position)))
        : [],
    calls: () => calls.map(({ id, names, text, extra }) => ({ id, name: nameOf(names, toolNames), text, extra })),
  };
};
