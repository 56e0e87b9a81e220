/** @jsxImportSource preact */
import { agentsOf } from '../actor-tree.ts';
import { approvalsOf } from '../approvals.ts';
import { visible } from '../escape-control.ts';
import { pathOf } from '../timeline.ts';
import type { SessionView } from '../view-state.ts';
import { useStore } from './use-store.ts';
import { clock, toneOfStates } from './words.ts';

/** As many as the server lists at once. */
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
          <b>{agent}</b> <span class="id">{id}</span>
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

export const SessionsPanel = () => {
  const store = useStore();
  const { sessions, liveView: view } = store;
  const live = new Set(sessions.map(({ id }) => id));
  const stored = store.stored.filter(({ id }) => !live.has(id));
  return (
    <section class="panel sessions" aria-label="Sessions">
      <h2>
        Sessions <span class="count">{sessions.length + stored.length}</span>
      </h2>
      <ul>
        {sessions.map((session) => (
          <Row
            key={session.id}
            id={session.id}
            agent={session.agent ?? session.actors[session.root]?.src ?? 'machine'}
            at={session.changedAt}
            states={statesOf(session)}
            isOpen={!isOver(session)}
            waiting={isOver(session) ? 0 : approvalsOf(view, session).length}
          />
        ))}
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
      {stored.length > 0 && store.stored.length % perPage === 0 ? (
        <button type="button" class="link" onClick={() => void store.loadOlder()}>
          Show older ones
        </button>
      ) : null}
    </section>
  );
};
