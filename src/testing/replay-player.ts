import type { AgentContext, Decision, ModelCall } from '../machines/agent-context.ts';
import type { Outcome } from '../machines/turn.ts';
import type { Message } from '../messages/message.ts';
import { callsOf } from '../messages/message.ts';
import type { ModelReply } from '../models/chat-model.ts';
import { ModelError } from '../models/model-error.ts';
import type { AgentOptions } from '../sessions/agent-options.ts';
import type { Session } from '../sessions/session.ts';
import type { PendingCall } from '../tools/call.ts';
import type { RunTool } from '../tools/tool-middleware.ts';
import { shapeOf } from './message-shape.ts';
import { type Recording, replyOf } from './recording.ts';

/** Where a session does something else than it did. */
export interface Divergence {
  /** Counts from 1; turns without any reply of the model are not counted. */
  turn: number;
  /** Of the turn, from 1. */
  round: number;
  expected: string;
  came: string;
}

const describe = (outcome: Outcome | undefined): string => {
  if (outcome === undefined) return 'the turn waits';
  if (outcome.type === 'limit') return `the turn ends: limit ${outcome.limit}`;
  return `the turn ends: ${outcome.type}${outcome.type === 'failed' ? ` (${outcome.code})` : ''}`;
};

/** Ends that come from outside the loop: here they show themselves by a reply that is not there. */
const comesFromOutside = (outcome: Outcome | undefined): boolean =>
  outcome === undefined ||
  outcome.type === 'stopped' ||
  outcome.type === 'refused' ||
  (outcome.type === 'limit' && outcome.limit === 'deadline') ||
  (outcome.type === 'failed' && !outcome.code.includes('limit') && outcome.code !== 'unknown-tool');

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** Results that the caller gave for calls that were left to him; what he left out is cancelled again by itself. */
const givenByCaller = (message: Message): Message[] => {
  if (message.role !== 'tool') return [message];
  const content = message.content.filter(
    ({ providerOptions }) => providerOptions?.['agentchart']?.['status'] === undefined,
  );
  return content.length === 0 ? [] : [{ ...message, content }];
};

/** How many rounds came to their end with this message or later: results belong to the round of their reply. */
const roundsFrom = (messages: readonly Message[], index: number): number =>
  messages.slice(index).filter(({ role }) => role === 'assistant').length + (messages[index]?.role === 'tool' ? 1 : 0);

/** One replay under way. */
export class ReplayPlayer {
  divergence: Divergence | undefined;
  replies = 0;
  /** The model was asked where the recording has no reply. */
  isBeyond = false;
  private compared = 0;
  private readonly asked = new Set<string>();
  /** How many of the decisions on a call were played. */
  private readonly decided = new Map<string, number>();
  /** Calls of the model that left no message, and were played. */
  private readonly unseen = new Set<ModelCall>();
  private readonly recording: Recording;
  private current: Session | undefined;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  set session(session: Session) {
    this.current = session;
  }
  get session(): Session {
    if (this.current === undefined) throw new TypeError('there is no session yet');
    return this.current;
  }
  get context(): AgentContext {
    return this.session.actor.getSnapshot().context;
  }
  get next(): Message | undefined {
    return this.recording.messages[this.context.messages.length];
  }

  diverge(expected: string, came: string, closed = 0): void {
    const { number, iterations } = this.context.turn;
    this.divergence ??= { turn: number, round: Math.max(1, iterations + 1 - closed), expected, came };
  }

  /** The history so far against the recorded one. */
  compare(): void {
    const { messages } = this.context;
    for (; this.compared < messages.length && this.divergence === undefined; this.compared += 1) {
      const [message, recorded] = [messages[this.compared], this.recording.messages[this.compared]];
      if (message === undefined) return;
      const expected = recorded === undefined ? 'nothing more' : shapeOf(recorded);
      if (shapeOf(message) === expected) continue;
      const told = recorded === undefined ? expected : shapeOf(recorded, message);
      this.diverge(told, shapeOf(message, recorded), roundsFrom(messages, this.compared));
    }
  }

  /** Messages that the turn read while it ran come before the next reply of the same turn. */
  private steerAfter(index: number): void {
    const { messages, callAt, unseenAt } = this.recording;
    const found = messages.findIndex(({ role }, at) => at > index && role === 'assistant');
    const end = found === -1 ? messages.length : found;
    const next = callAt(end) ?? unseenAt(end)[0];
    if (next?.turn !== callAt(index)?.turn || messages[index + 1]?.role !== 'tool') return;
    const said = messages.slice(index + 2, end);
    if (said.length > 0) this.session.send(said, { mode: 'steer' }).catch(() => undefined);
  }

  /** A reply that left no message: an empty one, or the refusal that ended the last turn. */
  private nextUnseen(index: number): ModelReply | undefined {
    const { unseenAt, outcome } = this.recording;
    const left = unseenAt(index).filter((call) => !this.unseen.has(call));
    const [call] = left;
    if (call === undefined) return undefined;
    this.unseen.add(call);
    const isRefusal = this.next === undefined && left.length === 1 && outcome?.type === 'refused';
    return {
      ...replyOf({ role: 'assistant', content: '' }, call),
      ...(isRefusal ? { refusal: outcome.reason } : {}),
    };
  }

  readonly generate: AgentOptions['model']['generate'] = async () => {
    this.compare();
    const index = this.context.messages.length;
    const reply = this.next;
    const unseen = this.divergence === undefined && reply?.role !== 'assistant' ? this.nextUnseen(index) : undefined;
    if (unseen !== undefined) return unseen;
    if (this.divergence !== undefined || reply?.role !== 'assistant') {
      this.isBeyond = true;
      throw new ModelError('model-request-failed', 'replay: no reply is recorded here', { transient: false });
    }
    this.replies += 1;
    if (callsOf(reply).length > 0) this.steerAfter(index);
    return replyOf(reply, this.recording.callAt(index));
  };

  readonly run: RunTool = ({ tool, ctx }) => {
    const recorded = this.recording.results.get(ctx.callId);
    const decision = this.recording.decisions.get(ctx.callId)?.[0];
    const came = `${tool.name} runs without asking`;
    if (recorded === undefined) this.diverge(`${tool.name} has no result yet`, came);
    else if (recorded.status === 'rejected') this.diverge(`${tool.name}: rejected`, came);
    else if (decision !== undefined && !this.asked.has(ctx.callId))
      this.diverge(`${tool.name} asks for approval`, came);
    switch (recorded?.status) {
      case 'failed':
      case 'timed-out':
        throw new Error('the recorded call failed');
      case 'cancelled':
        this.session.cancel(ctx.callId).catch(() => undefined);
        return untilAborted(ctx.signal);
      case 'stopped':
        this.stopLast();
        return untilAborted(ctx.signal);
      default: {
        const { outcome, messages } = this.recording;
        const isLast = this.context.messages.length >= messages.length - 2;
        if (isLast && outcome?.type === 'answered' && outcome.callId === undefined) ctx.endTurn();
        const output = recorded?.output;
        return output?.type === 'json' || output?.type === 'text' ? output.value : 'recorded';
      }
    }
  };

  private isStopped(callId: string): boolean {
    return this.recording.results.get(callId)?.status === 'stopped';
  }

  private nextDecision(callId: string): Decision | undefined {
    return this.recording.decisions.get(callId)?.[this.decided.get(callId) ?? 0];
  }

  /** Stops the turn when every call that went on before the stop has ended. */
  private stopLast(): void {
    const { actor } = this.session;
    const look = (): void => {
      const open = this.context.round?.calls.filter(({ phase }) => phase !== 'settled') ?? [];
      if (!open.every(({ callId }) => this.isStopped(callId))) {
        if (this.session.pending.some(({ callId }) => !this.isStopped(callId))) void this.decide();
        return;
      }
      watching.unsubscribe();
      this.session.stop().catch(() => undefined);
    };
    const watching = actor.subscribe(look);
    look();
  }

  /** What somebody did with one of the calls that wait. False: there is nothing recorded that could follow. */
  async decide(): Promise<boolean> {
    const { results, pending } = this.recording;
    const waiting = this.session.pending;
    for (const { callId } of waiting) this.asked.add(callId);
    // A stop ends the round, so it comes after all else that was done to it.
    const call =
      waiting.find(({ callId }) => this.nextDecision(callId) !== undefined) ??
      waiting.find(({ callId }) => !this.isStopped(callId) && results.has(callId)) ??
      waiting.find(({ callId }) => this.isStopped(callId));
    if (call === undefined) {
      const unknown = waiting.find(({ callId }) => !pending.includes(callId));
      if (unknown !== undefined)
        this.diverge(`${unknown.tool} has no result yet`, `${unknown.tool} waits for ${unknown.needs}`);
      return false;
    }
    try {
      await this.apply(call);
    } catch (error) {
      this.diverge(`the decision on ${call.tool} is taken`, error instanceof Error ? error.message : String(error));
    }
    return this.divergence === undefined;
  }

  private async apply({ callId, tool, needs }: PendingCall): Promise<void> {
    const { results, editedInput } = this.recording;
    const decision = this.nextDecision(callId);
    if (decision !== undefined) this.decided.set(callId, (this.decided.get(callId) ?? 0) + 1);
    const edit = decision?.edited === true ? editedInput(callId) : undefined;
    const { remembered } = decision ?? {};
    const remember = remembered === undefined ? {} : { remember: remembered };
    switch (decision?.decision) {
      case 'approved':
        return this.session.approve(callId, {
          ...remember,
          ...(edit === undefined ? {} : { input: edit }),
        });
      case 'rejected':
        return this.session.reject(callId, remember);
      case 'answered':
        return this.session.respond(callId, 'recorded');
      default:
    }
    switch (results.get(callId)?.status) {
      case 'cancelled':
        return this.session.cancel(callId);
      case 'stopped':
        return this.session.stop();
      case 'rejected':
        // By its expiry, or superseded: no person's decision.
        return this.session.reject(callId);
      default:
        return this.diverge(`${tool} runs without asking`, `${tool} waits for ${needs}`);
    }
  }

  /** What begins the next turn, or undefined where nothing does. */
  opening(): readonly Message[] | undefined {
    const { messages, given, callAt, lastTurn } = this.recording;
    const { length } = this.context.messages;
    // Turns that got no reply leave their messages side by side; of the last one it is known where it begins.
    const until = (begin: number, end: number): number => (begin < lastTurn && lastTurn < end ? lastTurn : end);
    if (length === 0) return messages.slice(0, until(0, given));
    const end = messages.findIndex(({ role }, at) => at > length && role === 'assistant');
    const isLeftToCaller = this.context.turn.outcome?.type === 'tool-calls';
    const isSameTurn = callAt(end)?.turn === callAt(length)?.turn;
    const from = isLeftToCaller && !isSameTurn ? length + 1 : length;
    const said = messages
      .slice(from, until(messages[from]?.role === 'tool' ? from + 1 : from, end === -1 ? messages.length : end))
      .flatMap((message) => givenByCaller(message));
    return said.some(({ role }) => role === 'user') && said[0]?.role !== 'assistant' ? said : undefined;
  }

  /** The turn is over: the next one begins, or the recording is over as well. */
  end(): readonly Message[] | undefined {
    this.compare();
    const { outcome } = this.context.turn;
    const { outcome: recorded, messages, pending } = this.recording;
    if (this.divergence !== undefined) return undefined;
    const opening = this.opening();
    if (opening !== undefined) {
      this.isBeyond = false;
      return opening;
    }
    const isOver = this.next === undefined || (outcome?.type === 'tool-calls' && recorded?.type === 'tool-calls');
    const came = this.isBeyond ? 'the model is asked again' : describe(outcome);
    const isUnfinished = recorded === undefined && pending.length === 0;
    if (!isOver) this.diverge(shapeOf(messages[this.context.messages.length] as Message), came);
    else if (isUnfinished) return undefined;
    else if (this.isBeyond ? !comesFromOutside(recorded) : describe(outcome) !== describe(recorded))
      this.diverge(describe(recorded), came);
    return undefined;
  }
}
