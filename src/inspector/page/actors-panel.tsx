/** @jsxImportSource preact */
import { visible } from '../escape-control.ts';
import { type TreeNode, actorTree } from '../actor-tree.ts';
import { pathOf } from '../timeline.ts';
import { useNow, useStore } from './use-store.ts';
import { duration, toneOf, toneOfStates } from './words.ts';

const isWorking = ({ actor, children }: TreeNode): boolean =>
  (actor.endedAt === undefined && actor.parent !== null) || children.some(isWorking);

const Branch = ({ node, now, level }: { node: TreeNode; now: number; level: number }) => {
  const store = useStore();
  const { actor, call, children } = node;
  const isRoot = actor.parent === null;
  const state =
    call?.status ??
    (actor.chart === null ? (actor.status === 'active' ? 'at work' : actor.status) : pathOf(actor.states));
  const tone = call === undefined ? toneOfStates(actor.states) : toneOf(call.status, call.phase);
  const end = call?.endedAt ?? actor.endedAt;
  const time = isRoot ? '' : duration((end ?? now) - actor.startedAt);
  const name = visible(call?.tool ?? (isRoot ? (store.session?.agent ?? actor.src) : actor.id));
  const line = (
    <>
      <span class={`dot ${actor.chart === null ? 'quiet small' : tone}`} aria-hidden="true" />
      <span class="actor-name">{name}</span>
      {call === undefined ? null : <span class="id">{call.index}</span>}
      <span class={`actor-state ${tone}`}>{state}</span>
      {call !== undefined && call.attempt > 1 ? <span class="badge">try {call.attempt}</span> : null}
      <span class="actor-time">{time}</span>
    </>
  );
  return (
    <li
      role="treeitem"
      aria-level={level}
      aria-expanded={children.length > 0 ? true : undefined}
      aria-selected={store.actor === actor.key}
    >
      {actor.chart === null ? (
        <div class="actor">{line}</div>
      ) : (
        <button
          type="button"
          class="actor"
          aria-pressed={store.actor === actor.key}
          title={`${call?.callId ?? actor.id}: show its chart`}
          onClick={() => store.look({ actor: store.actor === actor.key ? undefined : actor.key })}
        >
          {line}
        </button>
      )}
      {call?.error === undefined ? null : <p class="actor-error">{visible(call.error)}</p>}
      {children.length === 0 ? null : (
        <ul role="group">
          {children.map((child) => (
            <Branch key={child.actor.key} node={child} now={now} level={level + 1} />
          ))}
        </ul>
      )}
    </li>
  );
};

export const ActorsPanel = () => {
  const store = useStore();
  const { session } = store;
  const tree = session === undefined ? undefined : actorTree(session);
  const now = useNow(store.isRunning && tree !== undefined && isWorking(tree));
  return (
    <section class="panel actors" aria-label="Actors">
      <h2>Actors</h2>
      {tree === undefined ? (
        <p class="empty">None yet.</p>
      ) : (
        <ul role="tree" aria-label="Actors of the session">
          <Branch node={tree} now={store.isRunning ? now : store.view.at} level={1} />
        </ul>
      )}
    </section>
  );
};
