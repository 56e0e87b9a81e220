import { setTimeout as pause } from 'node:timers/promises';
import type { SessionDocument } from '../../src/documents/document.ts';
import type { Fate } from '../../src/machines/chart-event.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { RunResult, Session } from '../../src/sessions/session.ts';

/** What can be looked at in a session, wherever it lives. */
export type Look = Pick<Session, 'status' | 'pending' | 'messages'>;

/** A session as every backend gives it: the calls of `Session`, and what a getter would tell asked for. */
export interface Conversation extends Pick<
  Session,
  'id' | 'send' | 'approve' | 'reject' | 'respond' | 'cancel' | 'stop' | 'retry'
> {
  settled(): Promise<RunResult>;
  look(): Promise<Look>;
  toJSON(): Promise<SessionDocument>;
}

/** An agent that runs somewhere. */
export interface Running {
  /** Default: a new session. */
  open(id?: string): Promise<Conversation>;
  /** All that runs is gone, without a word; then it is made anew over what was stored, with other options where some are given. */
  restart(options?: AgentOptions): Promise<void>;
  close(): Promise<void>;
}

export interface Backend {
  start(options: AgentOptions): Promise<Running>;
  close(): Promise<void>;
}

/** The cases of one subject; `start` gives an agent that is closed when its test is over. */
export type Cases = (start: Backend['start']) => void;

/** Asks until there is an answer, at first at once and then less and less often; it is the test that is over some time. */
const until = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  for (let ms = 1; ; ms = Math.min(ms * 2, 64)) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(ms);
  }
};

/** Resolves with the first look that is as it should be. */
export const seen = (conversation: Conversation, isSo: (look: Look) => boolean): Promise<Look> =>
  until(async () => {
    const look = await conversation.look();
    return isSo(look) ? look : undefined;
  });

/** Sends a message that has to wait, and resolves when it does: with what will have become of it. */
export const queued = async (
  conversation: Conversation,
  message: string,
  options: { mode?: 'queue' | 'steer' } = {},
): Promise<{ fate: Promise<Fate> }> => {
  const fate = conversation.send(message, options);
  // Whoever wants to know awaits it.
  fate.catch(() => undefined);
  await until(async () => JSON.stringify(await conversation.toJSON()).includes(JSON.stringify(message)) || undefined);
  return { fate };
};

/** The result when the turn rests, also where it waits for somebody before. */
export const resting = (conversation: Conversation): Promise<RunResult> =>
  until(async () => {
    const result = await conversation.settled();
    return result.outcome.type === 'pending' ? undefined : result;
  });

/** What a session of this process says, asked for as if it lived elsewhere. */
export const conversationOf = (session: Session): Conversation => ({
  id: session.id,
  send: session.send,
  approve: session.approve,
  reject: session.reject,
  respond: session.respond,
  cancel: session.cancel,
  stop: session.stop,
  retry: session.retry,
  settled: session.settled,
  look: async () => ({ status: session.status, pending: session.pending, messages: session.messages }),
  toJSON: async () => JSON.parse(JSON.stringify(session)) as SessionDocument,
});

/** The process's own memory. What survives a restart is the document of each session. */
export const memoryBackend = (): Backend => ({
  start: async (options) => {
    let agent = createAgent(options);
    const open = new Map<string, Session>();
    return {
      open: async (id) => {
        const session = await agent.open(id);
        open.set(session.id, session);
        return conversationOf(session);
      },
      restart: async (next = options) => {
        const documents = [...open.values()].map((session) => JSON.stringify(session));
        await agent.close();
        agent = createAgent(next);
        for (const document of documents) {
          const session = agent.restore(document);
          open.set(session.id, session);
        }
      },
      close: () => agent.close(),
    };
  },
  close: async () => undefined,
});
