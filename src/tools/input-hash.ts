import { hash } from '@stablelib/sha256';
import { canonicalJson } from '../messages/json.ts';

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Binds a decision to arguments (R29): SHA-256 of their canonical JSON, as 64 hex digits. Everywhere the same and at once, also on a page
 * without a secure origin, where the platform has no digest. Throws, as `JSON.stringify` does, for what is no JSON.
 */
export const inputHash = (input: unknown): string => hexOf(hash(new TextEncoder().encode(canonicalJson(input))));
