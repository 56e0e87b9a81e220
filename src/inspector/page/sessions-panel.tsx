/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import { agentsOf } from '../actor-tree.ts';
import { waitingIn } from '../approvals.ts';
import { visible } from '../escape-control.ts';
import { pathOf } from '../timeline.ts';
import { type SessionView, sessionOf } from '../view-state.ts';
import type { PageStore } from './page-store.ts';
import { useStore } from './use-store.ts';
import { clock, toneOfStates } from './words.ts';

/** Rows of sessions of this process that are drawn at once. */
const perPage = 200;

const statesOf = (session: SessionView): readonly string[] =>
  (agentsOf(session)[0] ?? session.actors[session.root])?.states ?? [];

const isOver = (session: SessionView): boolean => session.actors[session.root]?.status !== 'active';

const Row = ({
  id,
  agent,
  at,
  states,
  isOpen,
  waiting = 0,
  status = '',
}: {
  id: string;
  agent: string;
  at: number;
  states: readonly string[];
  isOpen: boolean;
  waiting?: number;
  /** Of a session that is only kept. */
  status?: string;
}) => {
  const store = useStore();
  const state = pathOf(states);
  return (
    <li>
      <button
        type="button"
        class="session"
        aria-current={store.sessionId === id ? 'true' : undefined}
        onClick={() => store.select(id)}
      >
        <span class={`dot ${isOpen ? toneOfStates(states) : 'quiet'}`} aria-hidden="true" />
        <span class="session-name">
          <b>{visible(agent)}</b> <span class="id">{visible(id)}</span>
        </span>
        <span class="session-state">
          {waiting > 0 ? <em class="badge">{waiting} to decide</em> : null}
          {isOpen ? state : `${state === '' ? status : state}, not open here`}
        </span>
        <time>{clock(at)}</time>
      </button>
    </li>
  );
};

/** The newest ones, and those that somebody has to see: there may be thousands. */
const rowsOf = (store: PageStore, shown: number): readonly SessionView[] => {
  const { sessions, liveView, sessionId } = store;
  if (sessions.length <= shown) return sessions;
  return sessions.filter(
    (session, index) => index < shown || session.id === sessionId || waitingIn(liveView, session) > 0,
  );
};

export const SessionsPanel = () => {
  const store = useStore();
  const [shown, setShown] = useState(perPage);
  const { sessions, liveView } = store;
  const rows = rowsOf(store, shown);
  const stored = store.stored.filter(({ id }) => sessionOf(liveView, id) === undefined);
  return (
    <section class="panel sessions" aria-label="Sessions">
      <h2>
        Sessions <span class="count">{sessions.length + stored.length}</span>
      </h2>
      <ul>
        {rows.map((session) => (
          <Row
            key={session.id}
            id={session.id}
            agent={session.agent ?? session.actors[session.root]?.src ?? 'machine'}
            at={session.changedAt}
            states={statesOf(session)}
            isOpen={!isOver(session)}
            waiting={waitingIn(liveView, session)}
          />
        ))}
        {rows.length < sessions.length ? (
          <li>
            <button type="button" class="link" onClick={() => setShown(shown + perPage)}>
              Show {Math.min(perPage, sessions.length - rows.length)} earlier
            </button>
          </li>
        ) : null}
        {stored.map(({ id, agent, changedAt, status, pending }) => (
          <Row
            key={id}
            id={id}
            agent={agent}
            at={changedAt}
            states={[]}
            status={status}
            isOpen={false}
            waiting={pending}
          />
        ))}
      </ul>
      {store.storeError === undefined ? null : (
        <p class="problems" role="alert">
          The store cannot be read: {visible(store.storeError)}
        </p>
      )}
      {store.hasOlder ? (
        <button type="button" class="link" onClick={() => void store.loadOlder()}>
          Show older ones
        </button>
      ) : null}
    </section>
  );
};
