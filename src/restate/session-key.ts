import { AgentError } from '../errors.ts';

const shortest = 32;

/** Throws `invalid-option` for the key of a tenant that could be guessed. */
export const checkKey = (key: string | undefined, where: string): void => {
  if (key === undefined || (typeof key === 'string' && key.length >= shortest)) return;
  throw new AgentError(
    'invalid-option',
    `${where}: option "key" is a secret of at least ${shortest} random characters; leave it out or give one`,
  );
};

const encoder = new TextEncoder();

const base64url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/**
 * The key of a session's object. Without a tenant's key it is the id, behind a letter: no id is a path such as `..` then. With one it is the
 * HMAC-SHA256 of the id: who does not have the tenant's key cannot name its sessions, and the same id is another session for another tenant.
 */
export const sessionKey = async (sessionId: string, key: string | undefined): Promise<string> => {
  if (key === undefined) return `s:${sessionId}`;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const secret = await crypto.subtle.importKey('raw', encoder.encode(key), algorithm, false, ['sign']);
  return `t:${base64url(await crypto.subtle.sign('HMAC', secret, encoder.encode(sessionId)))}`;
};
