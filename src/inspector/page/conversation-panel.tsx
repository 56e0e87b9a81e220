/** @jsxImportSource preact */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { agentsOf } from '../actor-tree.ts';
import { type JoinedCall, type Spoken, type SpokenPart, conversationOf } from '../conversation.ts';
import { visible } from '../escape-control.ts';
import { record } from '../read-plain.ts';
import { JsonText } from './json-text.tsx';
import { useStore } from './use-store.ts';
import { duration, toneOf } from './words.ts';

const pageOf = 60;

const outputOf = (output: unknown): unknown => {
  const { type, value, reason } = record(output);
  return type === 'execution-denied' ? reason : type === undefined ? output : value;
};

const Call = ({ call }: { call: JoinedCall }) => {
  const { live, status } = call;
  const took = live?.endedAt === undefined ? undefined : duration(live.endedAt - live.startedAt);
  return (
    <div class={`call ${toneOf(status)}`}>
      <header>
        <span class={`dot ${toneOf(status)}`} aria-hidden="true" />
        <b title={visible(call.tool)}>{visible(call.tool)}</b>
        <span class="id">{call.callId}</span>
        <span class={`status ${toneOf(status)}`}>{status}</span>
        {live !== undefined && live.attempt > 1 ? <span class="badge">{live.attempt} tries</span> : null}
        {took === undefined ? null : <span class="took">{took}</span>}
      </header>
      <JsonText value={call.input} />
      {call.progress === undefined ? null : (
        <div class="result progress">
          <JsonText value={call.progress} />
        </div>
      )}
      {call.output === undefined ? null : (
        <div class="result">
          <JsonText value={outputOf(call.output)} />
        </div>
      )}
    </div>
  );
};

const Part = ({ part }: { part: SpokenPart }) => {
  switch (part.type) {
    case 'call':
      return <Call call={part} />;
    case 'text':
      return <p class="said">{visible(part.text)}</p>;
    case 'reasoning':
      return (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <p class="said">{visible(part.text)}</p>
        </details>
      );
    case 'file':
      return <p class="file">{visible(part.text)}</p>;
    default:
      return part satisfies never;
  }
};

const notes = { streaming: 'is coming', round: 'waits for results', queued: 'waits to be read' } as const;

const Message = ({ spoken: { role, parts, isOpen } }: { spoken: Spoken }) => (
  <li class={`message ${role} ${isOpen === false ? '' : 'open'}`}>
    <header>
      <span class="role">{role}</span>
      {isOpen === false ? null : <span class="note">{notes[isOpen]}</span>}
    </header>
    {parts.map((part, index) => (
      <Part key={part.type === 'call' ? part.callId : index} part={part} />
    ))}
  </li>
);

export const ConversationPanel = () => {
  const store = useStore();
  const { session } = store;
  const agents = session === undefined ? [] : agentsOf(session);
  const agent = agents.find(({ key }) => key === store.actor) ?? agents[0];
  const spoken = useMemo(
    () => (session === undefined || agent === undefined ? [] : conversationOf(session, agent)),
    [session, agent],
  );
  const [shown, setShown] = useState(pageOf);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box !== null && isAtEnd.current) box.scrollTop = box.scrollHeight;
  }, [spoken]);
  const error = record(record(record(agent?.context)['turn'])['outcome']);
  const words = record(error['error']);
  return (
    <section class="conversation" aria-label="Messages">
      <h2>
        Messages <span class="count">{spoken.length}</span>
      </h2>
      <div
        class="scroll"
        role="group"
        aria-label="All messages"
        tabIndex={0}
        ref={scroller}
        onScroll={({ currentTarget: box }) => {
          isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
        }}
      >
        {spoken.length === 0 ? <p class="empty">Nothing was said yet.</p> : null}
        {spoken.length > shown ? (
          <button type="button" class="link" onClick={() => setShown(shown + pageOf)}>
            Show {Math.min(pageOf, spoken.length - shown)} earlier
          </button>
        ) : null}
        <ol class="messages">
          {spoken.slice(-shown).map((each) => (
            <Message key={each.key} spoken={each} />
          ))}
        </ol>
        {typeof words['message'] === 'string' ? (
          <p class="failure" role="status">
            <b>{String(error['code'] ?? words['name'])}</b> {visible(words['message'])}
          </p>
        ) : null}
      </div>
    </section>
  );
};
