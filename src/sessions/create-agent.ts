import { AgentError, isInstance } from '../errors.ts';
import { systemClock } from '../actors/alarm.ts';
import type { ChatModel } from '../models/chat-model.ts';
import { wrapModel } from '../models/model-middleware.ts';
import { checkMessages } from '../messages/check-message.ts';
import type { InputSchema, SchemaOutput } from '../tools/input-schema.ts';
import type { Agent, OpenOptions, RunOptions, StreamOptions } from './agent.ts';
import type { AgentOptions } from './agent-options.ts';
import { innermost, wrapTurns } from './agent-middleware.ts';
import { createAgentTool } from './agent-tool.ts';
import { keepParts } from './agent-parts.ts';
import { checkAgentName } from './check-agent-name.ts';
import { assemble } from './assemble.ts';
import {
  checkOpenOptions,
  checkOptions,
  checkRestoreOptions,
  checkRunOptions,
  checkSessionId,
  checkStreamOptions,
} from './check-options.ts';
import { createSession } from './create-session.ts';
import type { SessionSource } from './own-session.ts';
import type { RunResult } from './session.ts';
import { SessionConflictError } from '../stores/session-conflict.ts';
import { type SessionDocument, readDocument } from '../documents/document.ts';
import { keeperOf } from './keeper-of.ts';
import { type LiveSessions, createLiveSessions } from './live-sessions.ts';
import { callsDoneWithout, documentAt, joined, loadStored } from './load-stored.ts';
import { newId } from './new-id.ts';
import { viewSession } from './read-only-session.ts';
import type { TurnGiven } from './run-turn.ts';
import { aroundTurns } from './around-turns.ts';
import { type RunnableSession, withRun } from './runnable-session.ts';
import { streamTurn } from './stream-turn.ts';

const openOptionsOf = (given: OpenOptions): OpenOptions => ({
  ...('context' in given ? { context: given.context } : {}),
  ...(given.inspect === undefined ? {} : { inspect: given.inspect }),
});

/** Of most runs nothing is given. */
const nothing: TurnGiven & RunOptions = {};

const givenOf = (options: StreamOptions): TurnGiven => {
  if (options === nothing) return nothing;
  const { session: _session, inspect: _inspect, onLeave: _onLeave, ...given } = options;
  return given;
};

/** Makes an agent. Throws `AgentError` for an option or tool that is not right; the message says what, where and how to mend it. */
export const createAgent = <S extends InputSchema>(options: AgentOptions<S>): Agent<SchemaOutput<S>> => {
  checkOptions(options);
  const { name = 'agent', formerNames = [], clock = systemClock } = options;
  const store = keeperOf(options.store);
  const { machine, parseOutput, forgetTools, told, staysAwake } = assemble(options);
  const { modelMiddleware = [], agentMiddleware = [] } = options;
  const ofTurn = (model: ChatModel): ChatModel => wrapModel(model, modelMiddleware);
  const turn = wrapTurns(agentMiddleware, innermost);
  const live = createLiveSessions();
  const start = (
    given: Pick<SessionSource, 'document' | 'input' | 'isStored' | 'committed' | 'mayLack'>,
    extra: OpenOptions = {},
    keep: LiveSessions['keep'] = live.keep,
  ): RunnableSession => {
    const session = createSession(source, { ...given, ...extra });
    if (agentMiddleware.length === 0) return keep(withRun(session, ofTurn));
    return keep(aroundTurns(session, { agent: name, context: extra.context, turn, wrapModel: ofTurn }));
  };
  const fork = async (from: SessionDocument, id: string): Promise<RunnableSession> => {
    assertOpen();
    checkAgentName(from, name, formerNames);
    const { revision: _, ...document } = from;
    const taken = (): AgentError =>
      new AgentError('session-exists', `there is a session "${id}" already; fork under another id`);
    // Before it starts: what would run in it could be stored nowhere.
    if (live.current(id)?.status === 'busy' || (await store.read(id)) !== undefined) throw taken();
    const made = { ...document, sessionId: id, createdAt: clock.now() };
    const session = start({ document: made });
    try {
      await session.commit();
      return session;
    } catch (error) {
      // Nobody gets it: it must not go on by itself, nor be found under its id.
      session.detach();
      await session[Symbol.asyncDispose]();
      throw isInstance(error, SessionConflictError) ? taken() : error;
    }
  };
  const source = {
    machine,
    agent: name,
    store,
    now: () => clock.now(),
    parseOutput,
    forgetTools,
    told,
    staysAwake,
    authorize: options.approvals?.authorize,
    fork,
  };
  const opening = new Map<string, Promise<RunnableSession>>();
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw new AgentError('agent-closed', `agent "${name}" is closed; make a new one with the same store`);
  };

  const restore = (given: unknown, extra: OpenOptions): RunnableSession => {
    assertOpen();
    const document = readDocument(given);
    checkSessionId(document.sessionId, 'restore');
    const before = live.current(document.sessionId);
    const session = start({ document, committed: joined(store, document) }, extra);
    // Memory is the process's own: the copy takes the place of the session that lives here. Elsewhere the store decides whose it is.
    if (!store.durable) before?.detach();
    else if (before !== undefined && before.status !== 'closed') live.keep(before);
    return session;
  };
  const load = async (id: string, extra: OpenOptions): Promise<RunnableSession> => {
    const loaded = await loadStored(store, id);
    if (loaded === undefined) return start({ input: { sessionId: id } }, extra);
    checkAgentName(loaded.document, name, formerNames);
    const mayLack = await callsDoneWithout(store, loaded.document);
    const session = start({ ...loaded, isStored: true, mayLack }, extra);
    await session.readInbox();
    return session;
  };
  const open = async (id: string, extra: OpenOptions): Promise<RunnableSession> => {
    assertOpen();
    const found = live.find(id);
    const known = found instanceof Promise ? await found : found;
    assertOpen();
    return known ?? opening.get(id) ?? begin(id, extra);
  };
  // Whoever asks for the same session while it loads gets the same object.
  const begin = (id: string, extra: OpenOptions): Promise<RunnableSession> => {
    const loading = load(id, extra).finally(() => opening.delete(id));
    opening.set(id, loading);
    return loading;
  };
  const sessionFor = async ({ session, ...given }: RunOptions): Promise<RunnableSession> => {
    const extra = openOptionsOf(given);
    if (session === undefined || typeof session === 'string') return open(session ?? newId(), extra);
    if (!('actor' in session)) return restore(session, extra);
    if (!('post' in session)) {
      throw new AgentError(
        'invalid-option',
        'run: option "session" is no session; use agent.open() or agent.restore()',
      );
    }
    // Its actor is not asked for: one that waits need not be woken for this.
    if (live.current(session.id) !== session) checkAgentName(session.toJSON(), name, formerNames);
    return session as RunnableSession;
  };
  /** Nobody can have a new session but its run: when that has its answer, nothing of it stays but what the store has. */
  const runIn = async (
    given: RunOptions,
    run: (session: RunnableSession) => Promise<RunResult>,
  ): Promise<RunResult> => {
    const isNew = given.session === undefined && given.inspect === undefined && !('context' in given);
    if (!isNew) return run(await sessionFor(given));
    assertOpen();
    const session = start({ input: { sessionId: newId() } }, {}, live.hold);
    let mayBeWanted = true;
    try {
      const result = await run(session);
      mayBeWanted = result.outcome.type !== 'answered' || session.status !== 'settled';
      return result;
    } finally {
      live.letGo(session, mayBeWanted);
    }
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    await Promise.allSettled(opening.values());
    try {
      await live.closeAll();
    } finally {
      store.forget?.();
    }
  };

  const agent: Agent = {
    name,
    machine,
    tools: Object.freeze([...(options.tools ?? [])]),
    limits: Object.freeze({ ...options.limits }),
    run: async (input, given = nothing) => {
      checkRunOptions(given, options.tools);
      const messages = checkMessages(input);
      return runIn(given, (session) => session.run(messages, givenOf(given)));
    },
    stream: (input, given = {}) =>
      streamTurn(async ({ attach, left, ended }) => {
        checkStreamOptions(given, options.tools);
        const messages = checkMessages(input);
        const signal = given.signal === undefined ? left : AbortSignal.any([given.signal, left]);
        return runIn(given, (session) => {
          attach(session);
          return session.run(messages, { ...givenOf(given), signal }, (posted) => {
            posted.result.then(ended, () => undefined);
          });
        });
      }, given),
    open: async (id = newId(), extra = {}) => {
      checkSessionId(id, 'open');
      checkOpenOptions(extra);
      const { readOnly, at } = extra;
      if (readOnly === true || at !== undefined) {
        assertOpen();
        const document = await documentAt(store, id, at);
        return viewSession({ machine, document, parseOutput, fork });
      }
      const session = await open(id, openOptionsOf(extra));
      if ('context' in extra) session.setContext(extra.context);
      return session;
    },
    asTool: (offered) => createAgentTool(machine, offered),
    restore: (document, extra = {}) => {
      checkRestoreOptions(extra);
      return restore(document, openOptionsOf(extra));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  const { store: _store, fork: _fork, ...parts } = source;
  keepParts(agent, { ...parts, hasMiddleware: agentMiddleware.length > 0 });
  // The output is what the schema's own check gave: the cast only tells its type.
  return agent as Agent<SchemaOutput<S>>;
};
