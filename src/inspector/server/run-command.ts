import type { AnyActorRef } from 'xstate';
import { ownHostOf } from '../../actors/host.ts';
import { AgentError, errorData } from '../../errors.ts';
import type { AgentContext, OutsideEvent } from '../../machines/agent-context.ts';
import { pendingOf } from '../../machines/round.ts';
import type { Command } from '../command.ts';
import type { InspectedAgent, InspectedSession } from '../inspected-agent.ts';
import type { Recorder } from '../recorder.ts';
import type { Refusal } from './guard-request.ts';

/** What became of a command that was taken. */
export interface Done {
  /** What else the person has to know. */
  note?: string;
  /** The session that a fork made. */
  session?: string;
}

/** The sessions of a store, for those that are not open here. */
export interface StoredSessions {
  /** The name of a session's agent; undefined where there is no such session. */
  agentOf(session: string): Promise<string | undefined>;
  /** Leaves an event for whoever has the session open, or opens it next. */
  leave(session: string, event: OutsideEvent): Promise<void>;
  /** The id of the copy. */
  fork(command: Extract<Command, { type: 'fork' }>): Promise<string>;
}

interface Options {
  recorder: Recorder;
  agents: readonly InspectedAgent[];
  stored?: StoredSessions | undefined;
}

type SessionCommand = Exclude<Command, { type: 'fork' }>;

/** Who is named in the decisions that come from here. */
const by = 'inspector';
const rememberedIds = 1_000;
const notGiven = 'give the agent to startInspector({ agents }) to decide here';

const statuses: Partial<Record<string, number>> = {
  'invalid-input': 422,
  'not-authorized': 403,
  'unknown-call': 404,
  'unknown-session': 404,
};

/** Runs commands, each once. Resolves when the session took it; undefined means it did. */
export const createCommands = ({ recorder, agents, stored }: Options) => {
  const done = new Set<string>();

  const left: Done = {
    note: 'Left in the store: the process that has the session takes it up, or the next one that opens it.',
  };

  const sessionFor = async (command: SessionCommand): Promise<InspectedSession | AnyActorRef | Refusal | Done> => {
    const id = command.session;
    const root = recorder.rootOf(id);
    if (root === undefined) {
      const name = (await stored?.agentOf(id)) ?? recorder.agentOf(id);
      if (name === undefined) return { status: 404, message: 'there is no such session' };
      const agent = agents.find((each) => each.name === name);
      if (agent !== undefined) return agent.open(id, { inspect: recorder.inspect });
      if (stored === undefined) return { status: 409, message: notGiven };
      await stored.leave(id, eventOf(command));
      return left;
    }
    // An actor that nobody made a session of hears events; a session has rules of its own about who decides.
    if (ownHostOf(root) === undefined) return root;
    const agent = agents.find(({ machine }) => machine === (root as { logic?: unknown }).logic);
    if (agent === undefined) return { status: 409, message: notGiven };
    const session = await agent.open(id, { inspect: recorder.inspect });
    return session.actor === root ? session : { status: 409, message: 'the session was opened by another agent' };
  };

  const carryOut = async (command: Command): Promise<Refusal | Done> => {
    if (command.type === 'fork') {
      if (stored === undefined) return { status: 409, message: 'only a session of a store can be forked here' };
      return { session: await stored.fork(command) };
    }
    const found = await sessionFor(command);
    if ('approve' in found) await askSession(found, command);
    else if ('send' in found) return tellActor(found, command) ?? {};
    else return found;
    return {};
  };

  return async (command: Command): Promise<Refusal | Done> => {
    if (done.has(command.id)) return { status: 409, message: 'this command was given before' };
    done.add(command.id);
    for (const id of done) {
      if (done.size <= rememberedIds) break;
      done.delete(id);
    }
    try {
      return await carryOut(command);
    } catch (error) {
      if (!(error instanceof AgentError)) return { status: 500, message: errorData(error).message };
      return { status: statuses[error.code] ?? 409, message: error.message };
    }
  };
};

const askSession = (session: InspectedSession, command: SessionCommand): Promise<void> => {
  switch (command.type) {
    case 'approve': {
      const { callId, inputHash, input } = command;
      return session.approve(callId, { inputHash, by, ...(input === undefined ? {} : { input }) });
    }
    case 'reject': {
      const { callId, inputHash, reason } = command;
      return session.reject(callId, { inputHash, by, ...(reason === undefined ? {} : { reason }) });
    }
    case 'respond':
      return session.respond(command.callId, command.output, { inputHash: command.inputHash, by });
    case 'cancel':
      return session.cancel(command.callId);
    case 'stop':
      // It resolves when the session rests; that is seen, not waited for.
      session.stop(command.reason).catch(() => undefined);
      return Promise.resolve();
    case 'retry':
      return session.retry();
    default:
      return command satisfies never;
  }
};

/** The agent that a raw actor is or holds: the one that the call waits in, else the outermost. */
const agentIn = (
  actor: AnyActorRef,
  callId: string | undefined,
): { actor: AnyActorRef; context: AgentContext } | undefined => {
  const snapshot = actor.getSnapshot() as { context?: AgentContext; children?: Record<string, AnyActorRef> };
  const { context } = snapshot;
  const isAgent = context !== undefined && Array.isArray(context.messages) && Array.isArray(context.inbox);
  if (isAgent && (callId === undefined || pendingOf(context).some((call) => call.callId === callId)))
    return { actor, context };
  for (const child of Object.values(snapshot.children ?? {})) {
    const found = agentIn(child, callId);
    if (found !== undefined) return found;
  }
  return undefined;
};

const tellActor = (root: AnyActorRef, command: SessionCommand): Refusal | undefined => {
  const callId = 'inputHash' in command ? command.callId : undefined;
  const found = agentIn(root, callId);
  if (found === undefined) return { status: 404, message: 'no agent here waits for this' };
  if ('inputHash' in command) {
    const call = pendingOf(found.context).find((each) => each.callId === command.callId);
    if (call?.inputHash !== command.inputHash)
      return { status: 409, message: 'the arguments are others than those that were shown' };
    if (command.type !== 'respond' && call.needs !== 'approval')
      return { status: 409, message: 'the call waits for a result, not for an approval' };
  }
  found.actor.send(eventOf(command));
  return undefined;
};

const eventOf = (command: SessionCommand): OutsideEvent => {
  switch (command.type) {
    case 'approve': {
      const { callId, inputHash, input } = command;
      return { type: 'approval.granted', callId, inputHash, by, ...(input === undefined ? {} : { input }) };
    }
    case 'reject': {
      const { callId, inputHash, reason } = command;
      return { type: 'approval.rejected', callId, inputHash, by, ...(reason === undefined ? {} : { reason }) };
    }
    case 'respond':
      return { type: 'call.result', callId: command.callId, output: command.output, inputHash: command.inputHash, by };
    case 'cancel':
      return { type: 'call.cancel', callId: command.callId };
    case 'stop':
      return { type: 'turn.stop', ...(command.reason === undefined ? {} : { reason: command.reason }) };
    case 'retry':
      return { type: 'turn.retry' };
    default:
      return command satisfies never;
  }
};
