import type { ProtocolEvent } from '../protocol.ts';
import { type TimelineEntry, entryOf } from '../timeline.ts';
import { type ViewState, emptyView, reduceView } from '../view-state.ts';

const perCheckpoint = 500;

/** All that a log has told so far: the view now, the view at any time before, and the lines between. */
export class History {
  head: ViewState = emptyView;
  readonly #events: ProtocolEvent[] = [];
  #checkpoints: ViewState[] = [emptyView];
  readonly #entries = new Map<string, TimelineEntry[]>();

  /** Begins anew with what was before the first event. */
  begin(base: ViewState): void {
    this.head = base;
    this.#events.length = 0;
    this.#checkpoints = [base];
    this.#entries.clear();
  }

  add(events: readonly ProtocolEvent[]): void {
    for (const event of events) {
      // A repeated event would be counted twice.
      if (event.seq <= this.head.seq) continue;
      this.head = reduceView(this.head, event);
      this.#events.push(event);
      if (this.#events.length % perCheckpoint === 0) this.#checkpoints.push(this.head);
      const entry = entryOf(this.head, event);
      if (entry === undefined) continue;
      const entries = this.#entries.get(entry.session);
      if (entries === undefined) this.#entries.set(entry.session, [entry]);
      else entries.push(entry);
    }
  }

  entriesOf(session: string): readonly TimelineEntry[] {
    return this.#entries.get(session) ?? [];
  }

  /** The view after the event of this number. */
  at(seq: number): ViewState {
    const first = this.#events[0]?.seq ?? 1;
    const count = Math.min(Math.max(0, seq - first + 1), this.#events.length);
    const checkpoint = Math.floor(count / perCheckpoint);
    let view = this.#checkpoints[checkpoint] ?? emptyView;
    for (let index = checkpoint * perCheckpoint; index < count; index += 1) {
      const event = this.#events[index];
      if (event !== undefined) view = reduceView(view, event);
    }
    return view;
  }
}
