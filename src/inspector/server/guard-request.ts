import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** What is refused, and with which status. */
export interface Refusal {
  status: number;
  message: string;
}

export const isRefusal = (answer: object): answer is Refusal => 'status' in answer;

export interface Door {
  host: string;
  port: number;
  token: string;
}

export const cookieName = ({ port }: Door): string => `agentchart-inspector-${port}`;

const isSame = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

const isLoopback = (host: string): boolean => host === '127.0.0.1' || host === '::1' || host === 'localhost';

/** A name that somebody else's DNS answers may point here: only our own addresses are taken. */
const isOwnHost = (header: string | undefined, { host, port }: Door): boolean => {
  if (header === undefined) return false;
  if (isLoopback(host)) return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(header);
  const name = header.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === host || name === 'localhost' || isIP(name) !== 0;
};

/** For every request, also that of the page itself. */
export const refuseStranger = ({ headers }: IncomingMessage, door: Door): Refusal | undefined => {
  if (!isOwnHost(headers.host, door)) return { status: 403, message: 'this address is not the inspector’s own' };
  if (headers.origin !== undefined && headers.origin !== `http://${headers.host}`)
    return { status: 403, message: 'requests of other pages are refused' };
  return undefined;
};

/** For all that shows or does something. */
export const refuseUnknown = ({ headers }: IncomingMessage, door: Door): Refusal | undefined => {
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  const name = `${cookieName(door)}=`;
  const cookie = headers.cookie
    ?.split(/;\s*/)
    .find((each) => each.startsWith(name))
    ?.slice(name.length);
  const given = bearer ?? cookie;
  if (given !== undefined && isSame(given, door.token)) return undefined;
  return { status: 401, message: 'open the address that the inspector printed: it holds the key' };
};

export const isToken = (given: unknown, { token }: Door): boolean => typeof given === 'string' && isSame(given, token);
