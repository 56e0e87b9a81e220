/** @jsxImportSource preact */
import { useMemo } from 'preact/hooks';
import { agentsOf } from '../actor-tree.ts';
import { changesBetween } from '../changes.ts';
import { record } from '../read-plain.ts';
import { sessionOf } from '../view-state.ts';
import { JsonText } from './json-text.tsx';
import { useStore } from './use-store.ts';

const isSmall = (value: unknown): boolean => (JSON.stringify(value) ?? '').length < 90;

/** What the moment that is shown changed in the context of the agent, or of the actor that is chosen. */
export const ChangesPanel = () => {
  const store = useStore();
  const { entries, session } = store;
  const index = store.position ?? entries.length - 1;
  const key = store.actor ?? (session === undefined ? undefined : agentsOf(session)[0]?.key) ?? session?.root;
  const after = session?.actors[key ?? '']?.context;
  const changes = useMemo(() => {
    const before =
      session === undefined ? undefined : sessionOf(store.viewAfter(index - 1), session.id)?.actors[key ?? ''];
    return changesBetween(record(before?.context), record(after));
  }, [after, index, key, session?.id]);
  if (changes.length === 0) return <p class="empty">This moment changed nothing in the context.</p>;
  return (
    <dl class="changes">
      {changes.map(({ path, before, after: value }) => (
        <div key={path} class={isSmall(before) && isSmall(value) ? 'change small' : 'change'}>
          <dt>{path}</dt>
          <dd>
            {before === undefined ? null : (
              <del aria-label="before">
                <JsonText value={before} inline={isSmall(before)} />
              </del>
            )}
            {value === undefined ? null : (
              <ins aria-label="after">
                <JsonText value={value} inline={isSmall(value)} />
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
};
