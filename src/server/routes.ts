import { RequestError } from './request-error.ts';

export type Route =
  | 'read-session'
  | 'send-message'
  | 'join-session'
  | 'list-approvals'
  | 'decide'
  | 'stop'
  | 'chat'
  | 'read-chat'
  | 'join-chat';

/** Where a request goes. `sessionId` is in the body of `chat`, else in the path. */
export interface Match {
  route: Route;
  sessionId?: string;
  callId?: string;
}

/** `:id` and `:call` stand for one segment each. */
const table: readonly [path: string, methods: Partial<Record<string, Route>>][] = [
  ['/sessions/:id', { GET: 'read-session' }],
  ['/sessions/:id/messages', { POST: 'send-message' }],
  ['/sessions/:id/events', { GET: 'join-session' }],
  ['/sessions/:id/approvals', { GET: 'list-approvals' }],
  ['/sessions/:id/approvals/:call', { POST: 'decide' }],
  ['/sessions/:id/stop', { POST: 'stop' }],
  ['/chat', { POST: 'chat' }],
  ['/chat/:id', { GET: 'read-chat' }],
  ['/chat/:id/stream', { GET: 'join-chat' }],
];

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new RequestError(400, 'invalid-path', 'the path is not encoded as a URL is');
  }
};

const paramsOf = (pattern: string, segments: readonly string[]): Record<string, string> | undefined => {
  const names = pattern.split('/');
  if (names.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const segment = segments[index] ?? '';
    if (name.startsWith(':') && segment !== '') params[name.slice(1)] = segment;
    else if (name !== segment) return undefined;
  }
  return params;
};

/** Throws 404 where there is no such path, and 405 where it takes another method. */
export const matchRoute = ({ method, url }: Request, basePath: string): Match => {
  const { pathname } = new URL(url);
  const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : '';
  for (const [pattern, methods] of table) {
    const params = paramsOf(pattern, path.split('/'));
    if (params === undefined) continue;
    const route = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (route === undefined) {
      const allow = Object.keys(methods).join(', ');
      throw new RequestError(405, 'method-not-allowed', `this path takes ${allow}`, { allow });
    }
    const { id, call } = params;
    return {
      route,
      ...(id === undefined ? {} : { sessionId: decode(id) }),
      ...(call === undefined ? {} : { callId: decode(call) }),
    };
  }
  throw new RequestError(404, 'not-found', 'there is nothing at this path');
};
