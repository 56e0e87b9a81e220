import type { ProtocolEvent } from '../protocol.ts';
import { type TimelineEntry, entryOf } from '../timeline.ts';
import { type ViewFold, createFold, foldAll } from '../view-fold.ts';
import { type ViewState, emptyView } from '../view-state.ts';

const perCheckpoint = 500;

/** What a log told: the view now, the view at any time before, and the lines between. The past of a long log comes after its head. */
export class History {
  #head: ViewFold = createFold(emptyView);
  /** The view after the newest event that is kept; behind the head while the past is coming, else the same. */
  #kept: ViewFold = this.#head;
  /** The number of that event. */
  #keptUntil = 0;
  readonly #events: ProtocolEvent[] = [];
  #checkpoints: ViewState[] = [emptyView];
  readonly #entries = new Map<string, TimelineEntry[]>();
  /** What happened after the head, until the past is here. */
  readonly #waiting: ProtocolEvent[] = [];
  /** The number of the first head's event: the past ends there. */
  #until = 0;

  /** The view now. */
  get head(): ViewState {
    return this.#head.view;
  }

  /** Begins anew with what was before the first event. */
  begin(base: ViewState): void {
    this.#until = 0;
    this.#waiting.length = 0;
    this.#keepFrom(base);
    this.#head = this.#kept;
  }

  /** Begins with what all came to; the past has to come by `addPast`. */
  beginAtHead(head: ViewState): void {
    this.begin(emptyView);
    this.#head = createFold(head);
    this.#until = head.seq;
  }

  #keepFrom(base: ViewState): void {
    this.#kept = createFold(base);
    this.#keptUntil = base.seq;
    this.#events.length = 0;
    this.#checkpoints = [base];
    this.#entries.clear();
  }

  /** How much of the past is here, from 0 to 1. */
  get part(): number {
    if (this.#keptUntil >= this.#until) return 1;
    const first = this.#checkpoints[0]?.seq ?? 0;
    return (this.#keptUntil - first) / (this.#until - first);
  }

  /** The number of the newest event of the past that is here. */
  get keptUntil(): number {
    return this.#keptUntil;
  }

  add(events: readonly ProtocolEvent[]): void {
    for (const event of events) {
      // A repeated event would be counted twice.
      if (event.seq <= this.#head.seq) continue;
      if (this.#kept === this.#head) {
        this.#keep(event);
        continue;
      }
      this.#head.add(event);
      this.#waiting.push(event);
    }
  }

  /** More of what was before the head, in order. `base`: what is not in the log any more came to this. */
  addPast(events: readonly ProtocolEvent[], base: ViewState | undefined): void {
    if (base !== undefined) this.#keepFrom(base);
    for (const event of events) {
      if (event.seq <= this.#keptUntil || event.seq > this.#until) continue;
      this.#keep(event);
    }
    if (this.part < 1) return;
    for (const event of this.#waiting.splice(0)) if (event.seq > this.#keptUntil) this.#keep(event);
    this.#head = this.#kept;
  }

  #keep(event: ProtocolEvent): void {
    const view = this.#kept.add(event);
    this.#keptUntil = event.seq;
    this.#events.push(event);
    if (this.#events.length % perCheckpoint === 0) this.#checkpoints.push(this.#kept.view);
    const entry = entryOf(view, event);
    if (entry === undefined) return;
    const entries = this.#entries.get(entry.session);
    if (entries === undefined) this.#entries.set(entry.session, [entry]);
    else entries.push(entry);
  }

  entriesOf(session: string): readonly TimelineEntry[] {
    return this.#entries.get(session) ?? [];
  }

  /** The view after the event of this number. */
  at(seq: number): ViewState {
    const first = this.#events[0]?.seq ?? 1;
    const count = Math.min(Math.max(0, seq - first + 1), this.#events.length);
    const checkpoint = Math.floor(count / perCheckpoint);
    const from = this.#checkpoints[checkpoint] ?? emptyView;
    return foldAll(from, this.#events.slice(checkpoint * perCheckpoint, count));
  }
}
