import { answerUIMessages } from '../ai-sdk/ui/answer-ui-messages.ts';
import { fromUIMessages } from '../ai-sdk/ui/from-ui-messages.ts';
import { toUIMessageStream } from '../ai-sdk/ui/to-ui-message-stream.ts';
import { toUIMessages, turnMessageId } from '../ai-sdk/ui/to-ui-messages.ts';
import type { UIMessage, UIMessageChunk } from '../ai-sdk/ui/ui-types.ts';
import type { Session } from '../sessions/session.ts';
import type { ChatBody } from './bodies.ts';
import { eventStream } from './event-stream.ts';
import { jsonResponse } from './json-response.ts';
import { RequestError } from './request-error.ts';
import { findSession, openSession, readAlong, turnOf } from './served-session.ts';
import type { Served } from './served.ts';

const chunks = (stream: ReadableStream<UIMessageChunk>): Response =>
  eventStream(stream, { last: '[DONE]', more: { 'x-vercel-ai-ui-message-stream': 'v1' } });

/** The turn that is told: that of a message, which is queued behind the one under way, or else the one that goes on. */
const toldTurn = (session: Session, isMessage: boolean): number => {
  const begins = session.status === 'idle' || session.status === 'settled' || (isMessage && session.status === 'busy');
  return begins ? turnOf(session) + 1 : turnOf(session);
};

/** What `useChat` of the AI SDK posts, and what it needs to show a session again. */
export const chatRoutes = {
  chat: async ({ agent, access, sessionId }: Served, { messages: given, edits = {} }: ChatBody) => {
    const messages = given as UIMessage[];
    const session = await openSession(agent, access, sessionId);
    const { message, approvals } = fromUIMessages(messages, { pending: session.pending });
    const unbound = approvals.find(({ inputHash }) => inputHash === undefined);
    if (unbound !== undefined) {
      throw new RequestError(400, 'invalid-body', `the answer to ${unbound.callId} lacks the hash of what was shown`);
    }
    const stream = await answerUIMessages(session, messages, {
      by: access.by ?? access.owner,
      edits,
      messageId: turnMessageId(toldTurn(session, message !== undefined)),
    });
    readAlong(session);
    return chunks(stream);
  },

  'read-chat': async ({ agent, access, sessionId }: Served) => {
    const session = await findSession(agent, access, sessionId);
    return jsonResponse({ id: sessionId, status: session.status, messages: toUIMessages(session) });
  },

  'join-chat': async ({ agent, access, sessionId }: Served) => {
    const session = await openSession(agent, access, sessionId);
    const turn = turnOf(session);
    // A turn that is over is told as well: it may have ended after the page was loaded.
    if (turn === 0) return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } });
    return chunks(toUIMessageStream(session.stream(), { messages: [], messageId: turnMessageId(turn) }));
  },
} as const;
