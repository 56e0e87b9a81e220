import type { AnyActorRef } from 'xstate';
import { ownHostOf } from '../../actors/host.ts';
import { AgentError, errorData } from '../../errors.ts';
import type { AgentContext, OutsideEvent } from '../../machines/agent-context.ts';
import { pendingOf } from '../../machines/round.ts';
import type { Command } from '../command.ts';
import type { InspectedAgent, InspectedSession } from '../inspected-agent.ts';
import type { Recorder } from '../recorder.ts';
import type { Refusal } from './guard-request.ts';

interface Options {
  recorder: Recorder;
  agents: readonly InspectedAgent[];
  /** The agent's name of a session that is in a store; undefined where nobody knows the session. */
  agentOf?: ((session: string) => string | undefined) | undefined;
  /** Leaves an event for a session that is not open here. */
  post?: ((session: string, event: OutsideEvent) => Promise<void>) | undefined;
}

/** Who is named in the decisions that come from here. */
const by = 'inspector';
const rememberedIds = 1_000;

const statuses: Partial<Record<string, number>> = {
  'invalid-input': 422,
  'not-authorized': 403,
  'unknown-call': 404,
};

/** Runs commands, each once. Resolves when the session took it; undefined means it did. */
export const createCommands = ({ recorder, agents, agentOf, post }: Options) => {
  const done = new Set<string>();

  const sessionFor = async (command: Command): Promise<InspectedSession | AnyActorRef | Refusal | undefined> => {
    const id = command.session;
    const root = recorder.rootOf(id);
    if (root === undefined) {
      const name = agentOf?.(id);
      const agent = agents.find((each) => each.name === name);
      if (name === undefined) return { status: 404, message: 'there is no such session' };
      if (agent === undefined && post !== undefined) {
        await post(id, eventOf(command));
        return undefined;
      }
      if (agent === undefined)
        return { status: 409, message: `the session is not open here: give its agent "${name}" to startInspector` };
      return agent.open(id, { inspect: recorder.inspect });
    }
    // An actor that nobody made a session of hears events; a session has rules of its own about who decides.
    if (ownHostOf(root) === undefined) return root;
    const agent = agents.find(({ machine }) => machine === (root as { logic?: unknown }).logic);
    if (agent === undefined)
      return { status: 409, message: 'give the agent to startInspector({ agents }) to decide here' };
    const session = await agent.open(id, { inspect: recorder.inspect });
    return session.actor === root ? session : { status: 409, message: 'the session was opened by another agent' };
  };

  return async (command: Command): Promise<Refusal | undefined> => {
    if (done.has(command.id)) return { status: 409, message: 'this command was given before' };
    done.add(command.id);
    for (const id of done) {
      if (done.size <= rememberedIds) break;
      done.delete(id);
    }
    try {
      const found = await sessionFor(command);
      if (found === undefined) return undefined;
      if ('status' in found && 'message' in found) return found as Refusal;
      if ('approve' in found) await askSession(found, command);
      else return tellActor(found as AnyActorRef, command);
      return undefined;
    } catch (error) {
      if (!(error instanceof AgentError)) return { status: 500, message: errorData(error).message };
      return { status: statuses[error.code] ?? 409, message: error.message };
    }
  };
};

const askSession = (session: InspectedSession, command: Command): Promise<void> => {
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

const tellActor = (root: AnyActorRef, command: Command): Refusal | undefined => {
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

const eventOf = (command: Command): OutsideEvent => {
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
