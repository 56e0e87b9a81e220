import { TerminalError } from '@restatedev/restate-sdk';
import { isPlainObject } from '../messages/json.ts';
import type { Since, Wait } from './protocol.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const isWait = (given: unknown): given is Wait => {
  if (!isPlainObject(given)) return false;
  switch (given['for']) {
    case 'rest':
      return true;
    case 'news':
      return isCount(given['revision']);
    case 'end':
      return isCount(given['end']);
    case 'fate':
      return typeof given['id'] === 'string';
    case 'check':
      return typeof given['callId'] === 'string';
    default:
      return false;
  }
};

const isSince = (given: unknown): given is Since =>
  isPlainObject(given) && isCount(given['revision']) && isCount(given['messages']);

/** It is refused, and not tried again. */
const refused = (what: string): TerminalError => new TerminalError(`the body is no ${what}`, { errorCode: 400 });

/** Throws where what came through the ingress is none. */
export const checkWait = (given: unknown): Wait => {
  if (isWait(given)) return given;
  throw refused('wait');
};

export const checkSince = (given: unknown): Since => {
  if (isSince(given)) return given;
  throw refused('part of a session');
};
