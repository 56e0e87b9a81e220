import { AgentError, type AgentErrorCode, isInstance } from '../errors.ts';
import { quietly } from '../messages/quietly.ts';
import { jsonResponse } from './json-response.ts';
import { RequestError } from './request-error.ts';

/** What the client did, by the code of what it led to. All other codes are faults of the server, whose words stay there. */
const statuses: Partial<Record<AgentErrorCode, number>> = {
  'invalid-message': 400,
  'invalid-input': 400,
  'invalid-option': 400,
  'not-authorized': 403,
  'unknown-session': 404,
  'unknown-call': 404,
  'call-settled': 409,
  'call-changed': 409,
  'decision-conflict': 409,
  'another-agent': 409,
  'session-busy': 409,
  'session-conflict': 409,
  'session-idle': 409,
  'nothing-to-retry': 409,
};

/** Any error as a response. `onFault` is told of those that are the server's. */
export const errorResponse = (error: unknown, onFault: (error: unknown) => unknown): Response => {
  if (isInstance(error, RequestError)) {
    return jsonResponse({ error: { code: error.code, message: error.message } }, error.status, error.headers);
  }
  if (isInstance(error, AgentError)) {
    const status = statuses[error.code];
    if (status !== undefined) return jsonResponse({ error: { code: error.code, message: error.message } }, status);
  }
  // The answer does not depend on who is told.
  quietly(() => onFault(error));
  if (isInstance(error, AgentError) && (error.code === 'agent-closed' || error.code === 'session-closed')) {
    return jsonResponse({ error: { code: error.code, message: 'the server is closing; try again later' } }, 503);
  }
  return jsonResponse({ error: { code: 'server-error', message: 'the server failed' } }, 500);
};
