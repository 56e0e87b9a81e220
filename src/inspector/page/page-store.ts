import type { Command } from '../command.ts';
import type { ListedSession } from '../history-source.ts';
import type { ProtocolEvent } from '../protocol.ts';
import type { TimelineEntry } from '../timeline.ts';
import { type SessionView, type ViewState, sessionOf } from '../view-state.ts';
import { type Connection, connect } from './connect.ts';
import { History } from './history.ts';
import { readPast } from './read-past.ts';

/** How the page stands to the process: `lost` tries again by itself, `refused` needs the new address. */
export type ConnectionState = 'connecting' | 'live' | 'lost' | 'refused';

type CommandBody = Command extends infer C ? (C extends Command ? Omit<C, 'id'> : never) : never;

/** What the page knows and what it looks at. One for the page; whoever shows it is told of changes, at most once a frame. */
export class PageStore {
  connection: ConnectionState = 'connecting';
  isRecording = false;
  title = '';
  /** False until what happened before is here. */
  isLoaded = false;
  stored: readonly ListedSession[] = [];
  actor: string | undefined;
  state: string | undefined;
  readonly #live = new History();
  readonly #past = new Map<string, History>();
  readonly #listeners = new Set<() => void>();
  #session: string | undefined;
  /** Index among the session's entries; undefined follows what happens. */
  #position: number | undefined;
  #isScheduled = false;
  #expected = 0;
  #run = '';
  #isReading = false;
  #connection: Connection | undefined;
  #views = new WeakMap<TimelineEntry, ViewState>();

  start(): void {
    this.#connection = connect({
      onState: (state) => {
        this.connection = state;
        if (state === 'live') void this.loadStored();
        this.changed();
      },
      onHello: ({ run, isRecording, title, last }) => {
        this.#run = run;
        this.isRecording = isRecording;
        this.title = title ?? '';
        this.#expected = last;
        this.isLoaded = this.#live.head.seq >= last;
        void this.#readPast();
        this.changed();
      },
      onBase: (base) => {
        this.#live.begin(base);
        this.#views = new WeakMap();
        this.#settle();
      },
      onHead: (head) => {
        this.#live.beginAtHead(head);
        this.#views = new WeakMap();
        void this.#readPast();
        this.#settle();
      },
      onEvents: (events) => {
        this.#live.add(events);
        this.#settle();
      },
    });
  }

  #settle(): void {
    this.isLoaded ||= this.#live.head.seq >= this.#expected;
    this.changed();
  }

  /** Goes on where it was cut off. */
  async #readPast(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || this.#isReading || this.#live.part === 1) return;
    this.#isReading = true;
    const run = this.#run;
    await readPast(this.#live, run, connection, () => this.changed());
    this.#isReading = false;
    if (this.#run !== run) await this.#readPast();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A page in the background has no frames, and must not fall behind. While a long past comes in, reading goes before drawing.
    setTimeout(
      () => {
        this.#isScheduled = false;
        for (const listener of this.#listeners) listener();
      },
      this.isLoaded && this.#live.part === 1 ? 16 : 250,
    );
  }

  get history(): History {
    const { sessionId } = this;
    if (sessionId === undefined || sessionOf(this.#live.head, sessionId) !== undefined) return this.#live;
    return this.#past.get(sessionId) ?? this.#live;
  }

  /** Live ones, the newest first. */
  get sessions(): SessionView[] {
    return Object.values(this.#live.head.sessions).toSorted((a, b) => b.startedAt - a.startedAt);
  }

  /** How much of the past is here, from 0 to 1. */
  get pastPart(): number {
    return this.history.part;
  }

  get liveView(): ViewState {
    return this.#live.head;
  }

  get sessionId(): string | undefined {
    return this.#session ?? this.sessions[0]?.id;
  }

  get entries(): readonly TimelineEntry[] {
    const { sessionId } = this;
    return sessionId === undefined ? [] : this.history.entriesOf(sessionId);
  }

  get position(): number | undefined {
    return this.#position;
  }

  get isLive(): boolean {
    return this.#position === undefined;
  }

  /** The view that is shown: now, or after the entry that is chosen and all that belongs to it. */
  get view(): ViewState {
    return this.#position === undefined ? this.history.head : this.viewAfter(this.#position);
  }

  viewAfter(index: number): ViewState {
    const entry = this.entries[index];
    if (entry === undefined) return index < 0 ? this.history.at((this.entries[0]?.seq ?? 1) - 1) : this.history.head;
    const next = this.entries[index + 1];
    if (next === undefined) return this.history.head;
    const known = this.#views.get(entry);
    if (known !== undefined) return known;
    const view = this.history.at(next.seq - 1);
    this.#views.set(entry, view);
    return view;
  }

  get session(): SessionView | undefined {
    return sessionOf(this.view, this.sessionId);
  }

  select(session: string): void {
    this.#session = session;
    this.#position = undefined;
    this.actor = undefined;
    this.state = undefined;
    const isLive = sessionOf(this.#live.head, session) !== undefined;
    if (!isLive && !this.#past.has(session)) void this.#loadPast(session);
    this.changed();
  }

  look(at: { actor?: string | undefined; state?: string | undefined }): void {
    if ('actor' in at) {
      this.actor = at.actor;
      this.state = undefined;
    }
    if ('state' in at) this.state = at.state;
    this.changed();
  }

  /** Past the last entry is now. */
  goTo(position: number | undefined): void {
    const last = this.entries.length - 1;
    this.#position = position === undefined || position >= last ? undefined : Math.max(0, position);
    this.changed();
  }

  step(by: number): void {
    if (this.pastPart < 1) return;
    this.goTo((this.#position ?? this.entries.length - 1) + by);
  }

  async loadStored(): Promise<void> {
    const found = (await this.#connection?.get('/stored')) as { sessions: ListedSession[] } | undefined;
    this.stored = found?.sessions ?? [];
    this.changed();
  }

  async #loadPast(session: string): Promise<void> {
    const events = await this.#connection?.get(`/stored/${encodeURIComponent(session)}`);
    if (!Array.isArray(events)) return;
    const history = new History();
    history.add(events as ProtocolEvent[]);
    this.#past.set(session, history);
    this.changed();
  }

  /** What was refused, in words; undefined when it was taken. */
  async command(body: CommandBody): Promise<string | undefined> {
    if (!this.isLive) return 'This is the past: go back to now to decide.';
    return this.#connection?.post('/commands', { ...body, id: crypto.randomUUID() });
  }
}
