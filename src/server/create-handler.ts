import type { Agent } from '../sessions/agent.ts';
import { type Bound, type Rules, checkGiven, checkOne, has, integer, isA } from '../sessions/option-bounds.ts';
import { type AuthorizeRequest, askAccess } from './access.ts';
import { type ChatBody, chatBody } from './bodies.ts';
import { chatRoutes } from './chat-routes.ts';
import { errorResponse } from './error-response.ts';
import { readBody } from './read-body.ts';
import { matchRoute } from './routes.ts';
import { sessionRoutes } from './session-routes.ts';

export interface HandlerOptions {
  agent: Agent;
  /** Asked before anything is done for a request, on every route. */
  authorize: AuthorizeRequest;
  /** Where the handler is mounted, such as `/agent`. Default: at the root. */
  basePath?: string;
  /** Default 1,000,000. */
  maxBodyBytes?: number;
  /** Told of what was answered with 500 or 503; a client reads nothing of it. Default: nobody is. */
  onError?: (error: unknown) => void;
}

const basePath: Bound = {
  says: 'a path such as "/agent", without a slash at its end',
  holds: (value) => value === '' || (typeof value === 'string' && /^\/.*[^/]$/.test(value)),
};

const rules = {
  agent: has('an Agent, as createAgent gives it', 'open', 'stream'),
  authorize: isA('function'),
  basePath,
  maxBodyBytes: integer(1),
  onError: isA('function'),
} satisfies Record<keyof HandlerOptions, Rules[string]>;

/**
 * The agent's sessions over HTTP, as a function of web-standard `Request` and `Response` that any server mounts. It never rejects. Errors
 * are JSON, `{ error: { code, message } }`. A client that goes away stops nothing: its turn goes on, and it can join again.
 */
export const createHandler = (options: HandlerOptions): ((request: Request) => Promise<Response>) => {
  checkGiven(options, rules, 'createHandler');
  checkOne(options.agent, rules.agent, 'createHandler: option "agent"');
  checkOne(options.authorize, rules.authorize, 'createHandler: option "authorize"');
  const { agent, authorize, basePath: mounted = '', maxBodyBytes = 1_000_000, onError = () => undefined } = options;
  // As it stands in the URL of a request.
  const base = mounted === '' ? '' : new URL(`http://localhost${mounted}`).pathname;

  /** Who may not ask learns that, whatever else is wrong with his request. */
  const readChat = async (request: Request): Promise<ChatBody> => {
    try {
      return await readBody(request, chatBody, maxBodyBytes);
    } catch (error) {
      await askAccess(authorize, { request, route: 'chat', sessionId: '' });
      throw error;
    }
  };
  const answer = async (request: Request): Promise<Response> => {
    const { route, sessionId, callId = '' } = matchRoute(request, base);
    // The page's library puts the id of a chat into the body.
    const chat = route === 'chat' ? await readChat(request) : undefined;
    const id = sessionId ?? chat?.id ?? '';
    const access = await askAccess(authorize, { request, route, sessionId: id });
    const served = { agent, request, access, sessionId: id, callId, maxBodyBytes };
    if (route === 'read-chat' || route === 'join-chat') return chatRoutes[route](served);
    if (route !== 'chat') return sessionRoutes[route](served);
    return chatRoutes.chat(served, chat ?? chatBody.parse(undefined));
  };
  return async (request) => {
    try {
      return await answer(request);
    } catch (error) {
      return errorResponse(error, onError);
    }
  };
};
