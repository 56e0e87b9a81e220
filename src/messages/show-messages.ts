import { copyJson } from './json.ts';
import type { Message } from './message.ts';

/** Gives copies, made where they are asked for and once for each history. */
const copyOnRead = (read: () => readonly Message[]): (() => readonly Message[]) => {
  let seen: readonly Message[] | undefined;
  let copy: readonly Message[] = [];
  return () => {
    const now = read();
    if (now !== seen) copy = copyJson(now);
    seen = now;
    return copy;
  };
};

const behind = Symbol('messages');

/**
 * The same for all: of an object literal with `get` V8 makes a kind of its own each time, and keeps what its getter leads to until the whole heap
 * is collected.
 */
const messages: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: { [behind]: () => readonly Message[] }) {
    return this[behind]();
  },
};

/** Shows the history on an object, as copies: what a reader changes in them is changed nowhere else. */
export const showMessages = <T extends object>(
  about: T,
  read: () => readonly Message[],
): T & { readonly messages: readonly Message[] } => {
  // One at a time: both at once take V8 twice as long.
  Object.defineProperty(about, 'messages', messages);
  Object.defineProperty(about, behind, { value: copyOnRead(read) });
  return about as T & { readonly messages: readonly Message[] };
};
