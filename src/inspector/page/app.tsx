/** @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks';
import { agentsOf } from '../actor-tree.ts';
import { visible } from '../escape-control.ts';
import { pathOf } from '../timeline.ts';
import { ActorsPanel } from './actors-panel.tsx';
import { ApprovalsPanel } from './approvals-panel.tsx';
import { ChangesPanel } from './changes-panel.tsx';
import { ChartPanel } from './chart-panel.tsx';
import { ConversationPanel } from './conversation-panel.tsx';
import type { Answer } from './connect.ts';
import { EmptyPage } from './empty-page.tsx';
import { handleKeys } from './handle-keys.ts';
import { LimitsPanel } from './limits-panel.tsx';
import { RoundPanel } from './round-panel.tsx';
import { Scrubber } from './scrubber.tsx';
import { SessionsPanel } from './sessions-panel.tsx';
import { StatePanel } from './state-panel.tsx';
import { ThemeButton } from './theme-button.tsx';
import { TimelinePanel } from './timeline-panel.tsx';
import { useStore } from './use-store.ts';
import { toneOfStates } from './words.ts';

const tabs = {
  timeline: ['Timeline', TimelinePanel],
  round: ['Round', RoundPanel],
  changes: ['Changes', ChangesPanel],
  state: ['State', StatePanel],
} as const;
type Tab = keyof typeof tabs;

const notices = {
  live: undefined,
  connecting: undefined,
  lost: 'The process does not answer. Here is what it told so far; the page goes on by itself when it is back.',
  refused:
    'The inspector was started again and has a new key: open the address that it printed. Here is what was told before.',
} as const;

const Header = () => {
  const store = useStore();
  const { session, connection } = store;
  const agent = session === undefined ? undefined : (agentsOf(session)[0] ?? session.actors[session.root]);
  const states = agent?.states ?? [];
  const isOpen = session?.actors[session.root]?.status === 'active';
  const mayAct = store.canDecide && isOpen && session !== undefined;
  const top = states[0]?.split('.')[1] ?? '';
  const isBusy = ['thinking', 'acting', 'observing', 'awaiting-approval'].includes(top);
  const mayRetry = states.some((state) => /\.done\.(failed|stopped|refused|limited)$/.test(state));
  const [{ refusal, note }, setAnswer] = useState<Answer>({});
  const ask = (type: 'stop' | 'retry'): void => {
    if (session !== undefined) void store.command({ type, session: session.id }).then(setAnswer);
  };
  const connected = store.isRecording
    ? 'Recording'
    : { live: 'Connected', connecting: 'Connecting', lost: 'Disconnected', refused: 'Disconnected' }[connection];
  return (
    <header class="top">
      <h1>
        <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
          <rect x="1.5" y="3" width="7" height="5" rx="1.6" />
          <rect x="11.5" y="12" width="7" height="5" rx="1.6" class="lit" />
          <path d="M5 8v3.5a3 3 0 0 0 3 3h3.5" />
        </svg>
        agentchart <span>inspector</span>
      </h1>
      {session === undefined ? null : (
        <div class="where">
          <b>{visible(session.agent ?? agent?.src ?? '')}</b> <span class="id">{visible(session.id)}</span>
          <span class={`pill ${isOpen ? toneOfStates(states) : 'quiet'}`} data-testid="state">
            {pathOf(states)}
          </span>
          {store.isStored ? (
            <span class="hint">from the store</span>
          ) : isOpen ? null : (
            <span class="hint">not open</span>
          )}
        </div>
      )}
      <div class="does">
        {refusal === undefined ? null : (
          <span class="refusal" role="alert">
            {visible(refusal)}
          </span>
        )}
        {note === undefined ? null : (
          <span class="hint" role="status" title={note}>
            {note}
          </span>
        )}
        {mayAct && isBusy ? (
          <button type="button" onClick={() => ask('stop')}>
            Stop
          </button>
        ) : null}
        {mayAct && mayRetry ? (
          <button type="button" class="primary" onClick={() => ask('retry')}>
            Retry
          </button>
        ) : null}
        <span class={`connection ${connection}`} role="status">
          {connected}
        </span>
        <ThemeButton />
      </div>
    </header>
  );
};

export const App = () => {
  const store = useStore();
  const [tab, setTab] = useState<Tab>('timeline');
  useEffect(() => handleKeys(store), [store]);
  useEffect(() => {
    if (store.state !== undefined) setTab('state');
  }, [store.state]);
  const notice = notices[store.connection];
  const { failures } = store.liveView;
  const Shown = tabs[tab][1];
  const hasSessions = store.sessions.length > 0 || store.stored.length > 0;
  return (
    <>
      <Header />
      {notice === undefined ? null : (
        <p class="notice" role="alert">
          {notice}
        </p>
      )}
      {failures.count === 0 ? null : (
        <p class="notice quiet" role="status">
          {failures.count} {failures.count === 1 ? 'thing' : 'things'} could not be recorded; the agent was not touched.
          Last: {failures.last?.where}, {visible(failures.last?.message ?? '')}
        </p>
      )}
      {store.note === undefined ? null : (
        <p class="notice quiet" role="status">
          {visible(store.note)}
        </p>
      )}
      {store.isLive ? null : (
        <p class="notice past" role="status">
          This is the past. Decisions can be taken only now.
        </p>
      )}
      {hasSessions ? (
        <>
          <main>
            <div class="left">
              <SessionsPanel />
              <ActorsPanel />
              <LimitsPanel />
            </div>
            <div class="middle">
              <ChartPanel />
              <section class="panel below" aria-label="Details">
                <div class="tabs" role="tablist">
                  {(Object.keys(tabs) as Tab[]).map((name) => (
                    <button
                      key={name}
                      type="button"
                      role="tab"
                      aria-selected={tab === name}
                      onClick={() => setTab(name)}
                    >
                      {tabs[name][0]}
                    </button>
                  ))}
                  <span class="keys">
                    <kbd>←</kbd>
                    <kbd>→</kbd> step <kbd>l</kbd> now <kbd>a</kbd> approve <kbd>r</kbd> reject <kbd>/</kbd> filter
                  </span>
                </div>
                <div class="tab-body" role="tabpanel" aria-label={tabs[tab][0]} tabIndex={0}>
                  <Shown />
                </div>
              </section>
            </div>
            <div class="right">
              <ApprovalsPanel />
              <ConversationPanel />
            </div>
          </main>
          <Scrubber />
        </>
      ) : (
        <EmptyPage />
      )}
    </>
  );
};
