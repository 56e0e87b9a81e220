import type { AnyActorRef } from 'xstate';
import { createAlarmLogic, systemClock } from '../actors/alarm.ts';
import { createCheckLogic } from '../actors/check.ts';
import { hostOf } from '../actors/host.ts';
import { createModelLogic } from '../actors/model.ts';
import { createStopLogic } from '../actors/stop-when.ts';
import { createToolLogic } from '../actors/tool.ts';
import { wakeLogic } from '../actors/wake.ts';
import { AgentError } from '../errors.ts';
import { type AgentMachine, createAgentMachine } from '../machines/agent.ts';
import { type AgentContext, recall } from '../machines/agent-context.ts';
import { requestOf } from '../machines/request.ts';
import { createToolCallMachine } from '../machines/tool-call.ts';
import type { TurnOptions } from '../machines/turn.ts';
import { checkMessages } from '../messages/check-message.ts';
import type { Message } from '../messages/message.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import type { AgentEvent } from './agent-event.ts';
import type { AgentOptions } from './agent-options.ts';
import { rulesOf } from './agent-rules.ts';
import { checkOptions, checkTurnOptions } from './check-options.ts';
import { type OwnSession, createSession, orThrow } from './create-session.ts';
import { type SessionDocument, readDocument, unknownStates } from './document.ts';
import { memoryStore } from './memory-store.ts';
import { newId } from './new-id.ts';
import type { Inspector, RunResult, Session } from './session.ts';

/** For one turn. */
export interface RunOptions extends TurnOptions {
  /** Goes on with this session: an id in the store, a live session, or a document. Default: a new one. */
  session?: string | Session | SessionDocument;
  /** Stops the turn when it aborts. */
  signal?: AbortSignal;
  /** For the tools of this turn; may hold live objects, is never stored. */
  context?: unknown;
  inspect?: Inspector;
}

/** The events of one turn, and what it came to. Leaving the loop early stops the turn. */
export interface RunStream extends AsyncIterable<AgentEvent> {
  readonly result: Promise<RunResult>;
}

export interface Agent {
  readonly name: string;
  /** An ordinary XState machine: `createActor(agent.machine, { input: { message } })` works as it is. */
  readonly machine: AgentMachine;
  /** Resolves when the turn rests or waits for somebody; rejects with `TurnError` where it failed. */
  run(input: string | Message | readonly Message[], options?: RunOptions): Promise<RunResult>;
  stream(input: string | Message | readonly Message[], options?: RunOptions): RunStream;
  /** The session of this id, from the store; a new one where there is none. The same object while it lives in this process. */
  open(id?: string, options?: { context?: unknown; inspect?: Inspector }): Promise<Session>;
  /** A session from `session.toJSON()`, as an object or as JSON text; it goes on where it was. */
  restore(document: SessionDocument | string, options?: { context?: unknown; inspect?: Inspector }): Session;
}

const contextOf = (agent: AnyActorRef): AgentContext => agent.getSnapshot().context as AgentContext;

/** Makes an agent. Throws `AgentError` for an option or tool that is not right; the message says what, where and how to mend it. */
export const createAgent = (options: AgentOptions): Agent => {
  checkOptions(options);
  const { model, name = 'agent', instructions, stopWhen, clock = systemClock, store = memoryStore() } = options;
  const tools = createToolRegistry(options.tools ?? [], options.extraTools);
  const rules = rulesOf(options, tools, clock);
  const agentAbove = (call: AnyActorRef): AgentContext | undefined =>
    call._parent === undefined ? undefined : contextOf(call._parent);
  const messagesOf = (call: AnyActorRef): readonly Message[] => agentAbove(call)?.messages ?? [];
  const alarm = createAlarmLogic(clock);

  const toolCall = createToolCallMachine(rules, {
    check: createCheckLogic({
      tools,
      policy: options.approvals?.policy,
      messagesOf,
      remembered: (call, tool, input) => {
        const context = agentAbove(call);
        return context === undefined ? undefined : recall(context, tool, input);
      },
    }),
    tool: createToolLogic({ tools, detailedErrors: options.detailedErrors ?? false, clock, messagesOf }),
    alarm,
  });
  const machine = createAgentMachine(rules, {
    toolCall,
    alarm,
    wake: wakeLogic,
    model: createModelLogic({
      models: [model, ...(options.fallback ?? [])],
      clock,
      idleTimeout: options.idleTimeout,
      requestOf: async (agent, asked) => {
        const context = contextOf(agent);
        const { sessionId, messages, turn } = context;
        const text =
          typeof instructions === 'function'
            ? await instructions({
                sessionId,
                messages,
                context: hostOf(agent).context(),
                iteration: turn.iterations + 1,
              })
            : instructions;
        const { toolChoice, settings } = options;
        return requestOf(context, { instructions: text, tools: tools.definitions(), toolChoice, settings }, asked);
      },
    }),
    stopWhen: createStopLogic((agent) => {
      const { sessionId, messages, turn } = contextOf(agent);
      const { iterations, usage } = turn;
      return stopWhen?.({ sessionId, iterations, usage, messages, context: hostOf(agent).context() }) ?? false;
    }),
  });

  const live = new Map<string, WeakRef<OwnSession>>();
  const keep = (session: OwnSession): OwnSession => {
    live.set(session.id, new WeakRef(session));
    return session;
  };
  const liveSession = (id: string): OwnSession | undefined => {
    const session = live.get(id)?.deref();
    return session === undefined || session.status === 'closed' ? undefined : session;
  };
  const own = (given: Session): OwnSession => {
    if ('post' in given) return given as OwnSession;
    throw new AgentError(
      'invalid-option',
      'run: option "session" is no session of an agent; use agent.open() or agent.restore()',
    );
  };
  const from = (given: unknown, extra: { context?: unknown; inspect?: Inspector | undefined }): OwnSession => {
    const document = readDocument(given);
    const missing = unknownStates(machine, (document.snapshot as { value: unknown }).value);
    if (missing.length > 0) {
      throw new AgentError(
        'incompatible-document',
        `session "${document.sessionId}" is in a state that does not exist here: ${missing.join(', ')}`,
      );
    }
    return keep(createSession({ machine, agent: name, store, document, ...extra }));
  };
  const open = async (
    id: string | undefined,
    extra: { context?: unknown; inspect?: Inspector | undefined },
  ): Promise<OwnSession> => {
    const known = id === undefined ? undefined : (liveSession(id) ?? (await store.load(id)));
    if (known !== undefined && 'post' in known) {
      if ('context' in extra) known.setContext(extra.context);
      return known;
    }
    if (known !== undefined) return from(known, extra);
    return keep(createSession({ machine, agent: name, store, input: { sessionId: id ?? newId() }, ...extra }));
  };
  const sessionFor = async ({ session, inspect, ...rest }: RunOptions): Promise<OwnSession> => {
    const extra = {
      ...('context' in rest ? { context: rest.context } : {}),
      ...(inspect === undefined ? {} : { inspect }),
    };
    if (session === undefined || typeof session === 'string') return open(session, extra);
    if ('actor' in session) {
      const found = own(session);
      if ('context' in rest) found.setContext(rest.context);
      return found;
    }
    return from(session, extra);
  };
  const turnOptions = ({ limits, toolChoice, settings }: RunOptions): TurnOptions | undefined => {
    checkTurnOptions({ limits, toolChoice, settings });
    if (limits === undefined && toolChoice === undefined && settings === undefined) return undefined;
    return {
      ...(limits === undefined ? {} : { limits }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...(settings === undefined ? {} : { settings }),
    };
  };

  const runIn = async (session: OwnSession, messages: Message[], given: RunOptions): Promise<RunResult> => {
    const { signal } = given;
    const stop = (): void => {
      session.stop('aborted').catch(() => undefined);
    };
    const posted = session.post(messages, 'queue', turnOptions(given));
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return orThrow(await posted.result);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  };

  return {
    name,
    machine,
    run: async (input, given = {}) => {
      const messages = checkMessages(input);
      return runIn(await sessionFor(given), messages, given);
    },
    stream: (input, given = {}) =>
      streamTurn(async (attach) => {
        const messages = checkMessages(input);
        const session = await sessionFor(given);
        attach(session);
        return runIn(session, messages, given);
      }),
    open: (id, extra = {}) => open(id, extra),
    restore: (document, extra = {}) => from(document, extra),
  };
};

/** Starts at once; events that nobody has read yet are kept. */
const streamTurn = (start: (attach: (session: OwnSession) => void) => Promise<RunResult>): RunStream => {
  const ready = Promise.withResolvers<ReturnType<OwnSession['read']> | undefined>();
  let session: OwnSession | undefined;
  let reader: ReturnType<OwnSession['read']> | undefined;
  const result = start((opened) => {
    session = opened;
    reader = opened.read(() => {
      session?.stop('the reader left').catch(() => undefined);
    });
    ready.resolve(reader);
  });
  const end = (): void => {
    ready.resolve(reader);
    reader?.close();
  };
  result.then(end, end);
  return {
    result,
    async *[Symbol.asyncIterator]() {
      const events = await ready.promise;
      if (events !== undefined) yield* events;
    },
  };
};
