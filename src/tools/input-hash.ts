import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../messages/json.ts';

/**
 * Binds a decision to arguments (R29): SHA-256 of their canonical JSON, as 64 hex digits. Everywhere the same and at once, also on a page
 * without a secure origin, where the platform has no digest. Throws, as `JSON.stringify` does, for what is no JSON.
 */
export const inputHash = (input: unknown): string => bytesToHex(sha256(utf8ToBytes(canonicalJson(input))));
