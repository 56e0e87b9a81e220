import { AgentError, isInstance } from '../errors.ts';
import type { UserMessage } from '../messages/message.ts';
import type { Agent } from '../sessions/agent.ts';
import type { AgentEvent } from '../sessions/agent-event.ts';
import type { Session } from '../sessions/session.ts';
import { TurnError } from '../sessions/turn-error.ts';
import { type DecisionBody, decisionBody, messageBody, stopBody } from './bodies.ts';
import { eventStream, readableOf } from './event-stream.ts';
import { jsonResponse } from './json-response.ts';
import { publicEvent } from './public-event.ts';
import { readBody } from './read-body.ts';
import { findSession, openSession, readAlong, turnOf } from './served-session.ts';
import type { Served } from './served.ts';

type Content = UserMessage['content'];

const streamOf = (events: AsyncIterator<AgentEvent>, id: string): Response =>
  eventStream(
    readableOf({
      next: async () => {
        const next = await events.next();
        return next.done === true ? next : { done: false, value: publicEvent(next.value, id) };
      },
      return: async () => events.return?.() ?? { done: true, value: undefined },
    }),
  );

const stateOf = (session: Session, id: string) => ({
  id,
  status: session.status,
  turn: turnOf(session),
  messages: session.messages,
  pending: session.pending,
});

const soon = (): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, 0, undefined));

/** The turn of this message, and before it what the session is still at. Throws where the message is refused. */
const queued = async (agent: Agent, session: Session, content: Content): Promise<AsyncIterator<AgentEvent>> => {
  const stream = agent.stream({ role: 'user', content }, { session, onLeave: 'detach' });
  const refused = stream.result.catch((error: unknown) => {
    // A turn that failed has events that say so.
    if (!isInstance(error, TurnError)) throw error;
  });
  await Promise.race([refused, soon()]);
  return stream[Symbol.asyncIterator]();
};

/** The turn under way, which reads the message before its next model call. */
const steered = async (session: Session, content: Content): Promise<AsyncIterator<AgentEvent>> => {
  const fate = await Promise.race([session.send({ role: 'user', content }, { mode: 'steer' }), soon()]);
  if (fate?.type === 'refused') throw new AgentError('session-busy', `the message was refused: ${fate.reason}`);
  return session.stream()[Symbol.asyncIterator]();
};

const decide = (session: Session, callId: string, given: DecisionBody, by: string): Promise<void> => {
  switch (given.decision) {
    case 'approve': {
      const { decision: _, ...options } = given;
      return session.approve(callId, { ...options, by });
    }
    case 'reject': {
      const { decision: _, ...options } = given;
      return session.reject(callId, { ...options, by });
    }
    case 'respond':
      return session.respond(callId, given.output, { inputHash: given.inputHash, by });
    default:
      return given satisfies never;
  }
};

export const sessionRoutes = {
  'read-session': async ({ agent, access, sessionId }: Served) =>
    jsonResponse(stateOf(await findSession(agent, access, sessionId), sessionId)),

  'send-message': async ({ agent, access, sessionId, request, maxBodyBytes }: Served) => {
    const { message, mode } = await readBody(request, messageBody, maxBodyBytes);
    const session = await openSession(agent, access, sessionId);
    const content = typeof message === 'string' ? message : message.map((part) => ({ ...part }));
    const events = mode === 'steer' ? await steered(session, content) : await queued(agent, session, content);
    readAlong(session);
    return streamOf(events, sessionId);
  },

  'join-session': async ({ agent, access, sessionId }: Served) => {
    const session = await findSession(agent, access, sessionId);
    return streamOf(session.stream()[Symbol.asyncIterator](), sessionId);
  },

  'list-approvals': async ({ agent, access, sessionId }: Served) =>
    jsonResponse({ pending: (await findSession(agent, access, sessionId)).pending }),

  decide: async ({ agent, access, sessionId, callId, request, maxBodyBytes }: Served) => {
    const body = await readBody(request, decisionBody, maxBodyBytes);
    const session = await findSession(agent, access, sessionId);
    await decide(session, callId, body, access.by ?? access.owner);
    readAlong(session);
    return jsonResponse({ status: session.status, pending: session.pending });
  },

  stop: async ({ agent, access, sessionId, request, maxBodyBytes }: Served) => {
    const { reason } = await readBody(request, stopBody, maxBodyBytes);
    const session = await findSession(agent, access, sessionId);
    await session.stop(reason);
    return jsonResponse({ status: session.status, pending: session.pending });
  },
} as const;
