import { isPlainObject } from '../messages/json.ts';
import { RequestError } from './request-error.ts';
import type { Route } from './routes.ts';

/** Who asks, as the application knows it. */
export interface Access {
  /** Under whom the session ids of this request live: one owner's session cannot be reached by another. */
  owner: string;
  /** Who decides and speaks, for the session's log. Default: `owner`. */
  by?: string;
  /** For the tools of the turns to come; may hold live objects. */
  context?: unknown;
}

/** 401: it is not known who asks. 403: it is, and may not. */
export interface Refusal {
  refuse: 401 | 403;
}

/** What `authorize` is asked. The request's body is not to be read. */
export interface AccessQuestion {
  request: Request;
  route: Route;
  /** As the client gave it; `''` where it did not. */
  sessionId: string;
}

export type AuthorizeRequest = (question: AccessQuestion) => Access | Refusal | Promise<Access | Refusal>;

/**
 * The id under which a handler keeps the session that a client of this owner calls `id`; `agent.open` takes it. No two pairs of owner and id
 * have the same one. Throws `URIError` for an owner that is no well-formed text.
 */
export const sessionIdOf = (owner: string, id: string): string => `${encodeURIComponent(owner)}/${id}`;

/** Asks who it is. Whatever is no clear answer is none: the server fails then, and nobody gets in. */
export const askAccess = async (authorize: AuthorizeRequest, question: AccessQuestion): Promise<Access> => {
  const answer: unknown = await authorize(question);
  if (isPlainObject(answer)) {
    if (answer['refuse'] === 401) throw new RequestError(401, 'not-authenticated', 'say who you are');
    if (answer['refuse'] === 403) throw new RequestError(403, 'not-authorized', 'you may not do this');
    const { owner, by } = answer;
    const isNamed = typeof owner === 'string' && owner !== '' && (by === undefined || typeof by === 'string');
    if (isNamed && answer['refuse'] === undefined) return answer as unknown as Access;
  }
  throw new TypeError('authorize must give { owner: text, by?: text, context? } or { refuse: 401 | 403 }');
};
