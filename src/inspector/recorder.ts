import type { AnyActorRef, InspectionEvent } from 'xstate';
import { errorData } from '../errors.ts';
import { type ActorNotes, createActorNotes } from './actor-notes.ts';
import { createDeltaTeller } from './delta-teller.ts';
import { type EventLog, createEventLog } from './event-log.ts';
import { listenToHost } from './listen-to-host.ts';
import { type MachineNotes, activeStates, asActor, createMachineNotes, isMachineSnapshot } from './machine-notes.ts';
import { diff } from './patch.ts';
import type { ActorStatus, AgentInfo, ErrorWords, Told } from './protocol.ts';

export interface Recorder {
  readonly log: EventLog;
  /** For `inspect` of a run, of an opened session, or of any XState actor. Never throws. */
  inspect(event: InspectionEvent): void;
  /** Tells what an agent's sessions do not tell themselves. */
  describe(agent: Omit<AgentInfo, 'chart'> & { machine: Parameters<ReturnType<typeof createMachineNotes>>[0] }): void;
  /** The live root actor of a session. */
  rootOf(session: string): AnyActorRef | undefined;
  /** The name of the agent that a session belongs to, also when nothing of it lives any more. */
  agentOf(session: string): string | undefined;
}

type Microstep = Extract<InspectionEvent, { type: '@xstate.microstep' }>;

/** Events of XState's own that say nothing to a person. */
const isQuiet = (type: string): boolean => type.startsWith('xstate.init') || type === 'xstate.stop';

/** What a chart hears when its model has answered, or has not. */
const endsReply = (type: string): boolean => /^xstate\.(?:done|error)\.actor\.model$/.test(type);

/**
 * Writes down what XState inspects. It keeps references to what is new and makes no JSON: that is for whoever reads the log. XState
 * loses a transition where an inspector throws, so nothing here does; what could not be told is told as a `failure`. A server can be
 * started for it later, or again: what was recorded is there.
 */
export const createRecorder = (log: EventLog = createEventLog()): Recorder => {
  const agents = new Map<string, string>();
  const tell = (told: Told): void => log.append(told);
  const machines = createMachineNotes(({ key, chart }: MachineNotes) => tell({ type: 'chart', key, chart }));
  const deltas = createDeltaTeller(tell);
  const actors = createActorNotes({ log, machines, nameOf: (chart) => agents.get(chart) });

  /** An actor is told when it starts: one that is made and never started would stand there for ever. */
  const begin = (actor: AnyActorRef): ActorNotes => {
    const notes = actors.of(actor);
    if (notes.isTold) return notes;
    if (actor._parent !== undefined) begin(actor._parent);
    actors.tell(actor, notes);
    if (notes.machine !== undefined) listenToHost(actor, notes, tell, deltas, guard);
    return notes;
  };

  const hearReply = (actor: AnyActorRef, { session, key }: ActorNotes, type: string): void => {
    if (endsReply(type)) deltas.end(session, key);
    else if (type === 'xstate.init' && actor.id === 'model' && actor._parent !== undefined)
      deltas.begin(session, actors.of(actor._parent).key);
  };

  const onMicrostep = (event: Microstep): void => {
    const notes = actors.of(asActor(event.actorRef));
    if (!notes.isTold || notes.machine === undefined || !isMachineSnapshot(event.snapshot)) return;
    const { edgeIds } = notes.machine;
    // An event that no state takes is a step as well, to where the machine is.
    if (event._transitions.length === 0) return;
    notes.hasStepped = true;
    tell({
      type: 'step',
      session: notes.session,
      actor: notes.key,
      event: event.event.type,
      states: activeStates(event.snapshot),
      edges: event._transitions.flatMap((transition) => edgeIds.get(transition) ?? []),
      ...(notes.heard === event.event ? { data: event.event } : {}),
    });
    // The steps that follow by themselves carry the same event.
    notes.heard = undefined;
  };

  const onSnapshot = (event: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): void => {
    const notes = begin(asActor(event.actorRef));
    const snapshot = event.snapshot as { status: ActorStatus; output?: unknown; error?: unknown };
    const { heard, hasStepped } = notes;
    notes.heard = undefined;
    notes.hasStepped = false;
    const machine = isMachineSnapshot(snapshot) ? snapshot : undefined;
    const patch = machine === undefined ? undefined : diff(notes.context, machine.context);
    const gone = machine === undefined ? [] : actors.gone(notes, machine.children);
    const isNews = patch !== undefined || gone.length > 0 || snapshot.status !== notes.status;
    if (machine !== undefined) notes.context = machine.context;
    notes.status = snapshot.status;
    if (!isNews) {
      if (heard !== undefined && !hasStepped && notes.machine !== undefined && !isQuiet(heard.type))
        tell({ type: 'ignored', session: notes.session, actor: notes.key, event: heard.type, data: heard });
      return;
    }
    tell({
      type: 'snapshot',
      session: notes.session,
      actor: notes.key,
      status: snapshot.status,
      ...(patch === undefined ? {} : { patch }),
      ...(snapshot.status === 'done' && machine !== undefined ? { output: snapshot.output } : {}),
      ...(snapshot.status === 'error' ? { error: words(snapshot.error) } : {}),
      ...(gone.length === 0 ? {} : { gone }),
    });
  };

  const onInspection = (event: InspectionEvent): void => {
    switch (event.type) {
      case '@xstate.event': {
        const notes = begin(asActor(event.actorRef));
        notes.heard = event.event;
        hearReply(asActor(event.actorRef), notes, event.event.type);
        return;
      }
      case '@xstate.microstep':
        return onMicrostep(event);
      case '@xstate.snapshot':
        return onSnapshot(event);
      case '@xstate.actor':
      case '@xstate.action':
      case '@xstate.transition':
        return;
      default:
        event satisfies never;
    }
  };

  const guard = (where: string, work: () => void): void => {
    try {
      work();
    } catch (error) {
      try {
        tell({ type: 'failure', where, message: errorData(error).message });
      } catch {
        // There is nobody left to tell.
      }
    }
  };

  return {
    log,
    inspect: (event) => guard('inspect', () => onInspection(event)),
    describe: ({ machine, name, tools, limits }) =>
      guard('describe', () => {
        const { key } = machines(machine);
        agents.set(key, name);
        tell({ type: 'agent', agent: { name, chart: key, tools, limits } });
      }),
    rootOf: actors.rootOf,
    agentOf: actors.agentOf,
  };
};

const words = (thrown: unknown): ErrorWords => {
  const { name, message, code } = errorData(thrown);
  return { name, message, ...(code === undefined ? {} : { code }) };
};
