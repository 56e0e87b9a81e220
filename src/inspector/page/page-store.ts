import type { Command } from '../command.ts';
import type { ListedSession } from '../history-source.ts';
import { waitingIn } from '../approvals.ts';
import type { TimelineEntry } from '../timeline.ts';
import { type SessionView, type ViewState, newestFirst, sessionOf } from '../view-state.ts';
import { type Answer, type Connection, type StoreNews, connect } from './connect.ts';
import { History } from './history.ts';
import { readPast } from './read-past.ts';
import { type StoredPast, readStored } from './read-stored.ts';
import { type StoredList, withNewest, withOlder } from './stored-list.ts';

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
  /** Why the store cannot be read. */
  storeError: string | undefined;
  /** What the person has to know of what was done last. */
  note: string | undefined;
  actor: string | undefined;
  state: string | undefined;
  #storedList: StoredList = { sessions: [], hasOlder: false };
  readonly #live = new History();
  readonly #past = new Map<string, StoredPast>();
  readonly #loading = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #session: string | undefined;
  #followed: string | undefined;
  /** Of a store: shown until somebody chooses. */
  #offered: string | undefined;
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
      onStored: (news) => this.#hearStored(news),
    });
  }

  #settle(): void {
    this.#follow();
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
    return (this.isStored && sessionId !== undefined ? this.#past.get(sessionId)?.history : undefined) ?? this.#live;
  }

  /** The session that is shown comes from a store: it runs elsewhere, if at all. */
  get isStored(): boolean {
    const { sessionId } = this;
    return sessionId !== undefined && sessionOf(this.#live.head, sessionId) === undefined;
  }

  /** What is shown goes on while one looks at it. */
  get isRunning(): boolean {
    return this.isLive && this.connection === 'live' && !this.isRecording && !this.isStored;
  }

  get canDecide(): boolean {
    return this.isLive && this.connection === 'live' && !this.isRecording;
  }

  get canFork(): boolean {
    const isKept = this.stored.some(({ id }) => id === this.sessionId);
    return isKept && this.connection === 'live' && this.pastPart === 1 && this.entries.length > 0;
  }

  get stored(): readonly ListedSession[] {
    return this.#storedList.sessions;
  }

  /** The store has more of them than are listed. */
  get hasOlder(): boolean {
    return this.#storedList.hasOlder;
  }

  /** Live ones, the newest first. */
  get sessions(): readonly SessionView[] {
    return newestFirst(this.#live.head.sessions);
  }

  /** How much of the past is here, from 0 to 1. */
  get pastPart(): number {
    return this.history.part;
  }

  get liveView(): ViewState {
    return this.#live.head;
  }

  get sessionId(): string | undefined {
    return this.#session ?? this.#followed ?? this.#offered;
  }

  /** Until somebody chooses, the newest session is shown; one that waits for a decision is not taken away from whoever decides. */
  #follow(): void {
    const { head } = this.#live;
    const shown = sessionOf(head, this.#followed);
    if (shown === undefined || waitingIn(head, shown) === 0) this.#followed = this.sessions[0]?.id;
  }

  /** Whoever does something with a session has chosen it. */
  stay(): void {
    this.#session ??= this.sessionId;
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
    this.note = undefined;
    if (this.isStored) void this.#loadPast(session);
    this.changed();
  }

  look(at: { actor?: string | undefined; state?: string | undefined }): void {
    this.stay();
    if ('actor' in at) {
      this.actor = at.actor;
      this.state = undefined;
    }
    if ('state' in at) this.state = at.state;
    this.changed();
  }

  /** Past the last entry is now. */
  goTo(position: number | undefined): void {
    this.stay();
    const last = this.entries.length - 1;
    this.#position = position === undefined || position >= last ? undefined : Math.max(0, position);
    this.changed();
  }

  step(by: number): void {
    if (this.pastPart < 1) return;
    this.goTo((this.#position ?? this.entries.length - 1) + by);
  }

  #hearStored({ sessions, error }: StoreNews): void {
    this.#storedList = withNewest(this.#storedList, sessions);
    this.storeError = error;
    this.#offered ??= (sessions.find(({ pending }) => pending > 0) ?? sessions[0])?.id;
    const { sessionId } = this;
    const shown = sessions.find(({ id }) => id === sessionId);
    if (shown !== undefined && this.isStored && this.#past.get(shown.id)?.revision !== shown.revision)
      void this.#loadPast(shown.id);
    this.changed();
  }

  /** Lists sessions that changed before those that are listed. */
  async loadOlder(): Promise<void> {
    const found = (await this.#connection?.get(`/stored?offset=${this.stored.length}`)) as StoreNews | undefined;
    if (found !== undefined) this.#storedList = withOlder(this.#storedList, found.sessions);
    this.changed();
  }

  async #loadPast(session: string): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || this.#loading.has(session)) return;
    this.#loading.add(session);
    const revision = this.stored.find(({ id }) => id === session)?.revision;
    const past = await readStored(session, this.#past.get(session), connection);
    this.#loading.delete(session);
    if (past !== undefined) this.#past.set(session, { ...past, revision });
    const now = this.stored.find(({ id }) => id === session)?.revision;
    if (past !== undefined && now !== revision) await this.#loadPast(session);
    this.changed();
  }

  async command(body: CommandBody): Promise<Answer> {
    if (!this.isLive && body.type !== 'fork') return { refusal: 'This is the past: go back to now to decide.' };
    this.stay();
    const answer = await this.#connection?.post('/commands', { ...body, id: crypto.randomUUID() });
    return answer ?? { refusal: 'The process does not answer.' };
  }

  /** Makes a session of what this one was at the moment that is shown, and goes there. */
  async fork(): Promise<void> {
    const { sessionId: session, view } = this;
    if (session === undefined) return;
    const run = this.isStored ? (this.#past.get(session)?.run ?? '') : this.#run;
    const { refusal, session: made } = await this.command({ type: 'fork', session, run, seq: view.seq });
    if (made !== undefined) this.select(made);
    this.note =
      refusal ??
      `This is a copy of ${session} as it was then. Nothing of it runs until an agent opens it; what tools did outside is not undone.`;
    this.changed();
  }
}
