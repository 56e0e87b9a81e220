import { AgentError } from '../errors.ts';
import type { TurnOptions } from '../machines/turn.ts';
import { wrapModel } from '../models/model-middleware.ts';
import { checkMessages } from '../messages/check-message.ts';
import type { Message } from '../messages/message.ts';
import type { InputSchema, SchemaOutput } from '../tools/input-schema.ts';
import type { Agent, OpenOptions, RunOptions } from './agent.ts';
import type { AgentOptions } from './agent-options.ts';
import { createAgentTool } from './agent-tool.ts';
import { assemble } from './assemble.ts';
import { checkOpenOptions, checkOptions, checkRunOptions, checkSessionId } from './check-options.ts';
import { type OwnSession, createSession } from './create-session.ts';
import { readDocument, unknownStates } from './document.ts';
import { memoryStore } from './memory-store.ts';
import { createLiveSessions } from './live-sessions.ts';
import { newId } from './new-id.ts';
import type { RunResult } from './session.ts';
import { streamTurn } from './stream-turn.ts';

/** What is set for this turn alone, or undefined. */
const turnOptionsOf = ({ limits, toolChoice, settings }: RunOptions): TurnOptions | undefined => {
  if (limits === undefined && toolChoice === undefined && settings === undefined) return undefined;
  return {
    ...(limits === undefined ? {} : { limits }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(settings === undefined ? {} : { settings }),
  };
};

const openOptionsOf = (given: OpenOptions): OpenOptions => ({
  ...('context' in given ? { context: given.context } : {}),
  ...(given.inspect === undefined ? {} : { inspect: given.inspect }),
});

const runIn = async (session: OwnSession, messages: Message[], given: RunOptions): Promise<RunResult> => {
  const { signal } = given;
  const posted = session.post(messages, {
    mode: 'queue',
    turn: turnOptionsOf(given),
    ...('context' in given ? { context: given.context } : {}),
    ...(given.model === undefined ? {} : { model: given.model }),
  });
  const stop = (): void => {
    posted.withdraw(typeof signal?.reason === 'string' ? signal.reason : 'aborted');
  };
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await session.finish(await posted.result);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
};

/** Makes an agent. Throws `AgentError` for an option or tool that is not right; the message says what, where and how to mend it. */
export const createAgent = <S extends InputSchema>(options: AgentOptions<S>): Agent<SchemaOutput<S>> => {
  checkOptions(options);
  const { name = 'agent', store = memoryStore() } = options;
  const { machine, parseOutput, forgetTools } = assemble(options);
  const wrapped = ({ model, ...given }: RunOptions): RunOptions =>
    model === undefined ? given : { ...given, model: wrapModel(model, options.modelMiddleware ?? []) };
  const source = { machine, agent: name, store, parseOutput, forgetTools, authorize: options.approvals?.authorize };
  const live = createLiveSessions();
  const opening = new Map<string, Promise<OwnSession>>();
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw new AgentError('agent-closed', `agent "${name}" is closed; make a new one with the same store`);
  };

  const restore = (given: unknown, extra: OpenOptions): OwnSession => {
    assertOpen();
    const document = readDocument(given);
    const missing = unknownStates(machine, document.snapshot);
    if (missing.length > 0) {
      throw new AgentError(
        'incompatible-document',
        `session "${document.sessionId}" is in a state that does not exist here: ${missing.join(', ')}; open it with the version of the agent that wrote it`,
      );
    }
    return live.keep(createSession({ ...source, document, ...extra }));
  };
  const load = async (id: string, extra: OpenOptions): Promise<OwnSession> => {
    const document = await store.load(id);
    if (document !== undefined) return restore(document, extra);
    return live.keep(createSession({ ...source, input: { sessionId: id }, ...extra }));
  };
  const open = async (id: string, extra: OpenOptions): Promise<OwnSession> => {
    assertOpen();
    const found = live.find(id);
    const known = found instanceof Promise ? await found : found;
    return known ?? opening.get(id) ?? begin(id, extra);
  };
  // Whoever asks for the same session while it loads gets the same object.
  const begin = (id: string, extra: OpenOptions): Promise<OwnSession> => {
    const loading = load(id, extra).finally(() => opening.delete(id));
    opening.set(id, loading);
    return loading;
  };
  const sessionFor = async ({ session, ...given }: RunOptions): Promise<OwnSession> => {
    const extra = openOptionsOf(given);
    if (session === undefined || typeof session === 'string') return open(session ?? newId(), extra);
    if (!('actor' in session)) return restore(session, extra);
    if (!('post' in session)) {
      throw new AgentError(
        'invalid-option',
        'run: option "session" is no session; use agent.open() or agent.restore()',
      );
    }
    return session as OwnSession;
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    await Promise.allSettled(opening.values());
    await live.closeAll();
  };

  const agent: Agent = {
    name,
    machine,
    run: async (input, given = {}) => {
      checkRunOptions(given, options.tools);
      const messages = checkMessages(input);
      return runIn(await sessionFor(given), messages, wrapped(given));
    },
    stream: (input, given = {}) =>
      streamTurn(async (attach, left) => {
        checkRunOptions(given, options.tools);
        const messages = checkMessages(input);
        const session = await sessionFor(given);
        attach(session);
        const signal = given.signal === undefined ? left : AbortSignal.any([given.signal, left]);
        return runIn(session, messages, { ...wrapped(given), signal });
      }),
    open: async (id = newId(), extra = {}) => {
      checkSessionId(id);
      checkOpenOptions(extra, 'open');
      const session = await open(id, openOptionsOf(extra));
      if ('context' in extra) session.setContext(extra.context);
      return session;
    },
    asTool: (offered) => createAgentTool(machine, offered),
    restore: (document, extra = {}) => {
      checkOpenOptions(extra, 'restore');
      return restore(document, openOptionsOf(extra));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  // The output is what the schema's own check gave: the cast only tells its type.
  return agent as Agent<SchemaOutput<S>>;
};
