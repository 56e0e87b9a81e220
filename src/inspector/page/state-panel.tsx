/** @jsxImportSource preact */
import { agentsOf } from '../actor-tree.ts';
import { useNow, useStore } from './use-store.ts';
import { duration } from './words.ts';

/** One state of the chart: what it is, how often and how long the actor was in it, and where it can go. */
export const StatePanel = () => {
  const store = useStore();
  const { session, view, state, entries } = store;
  const isNow = store.isRunning;
  const now = useNow(isNow, 1_000);
  const actor =
    session?.actors[store.actor ?? ''] ??
    (session === undefined ? undefined : (agentsOf(session)[0] ?? session.actors[session.root]));
  const chart = view.charts[actor?.chart ?? ''];
  const node = chart?.nodes.find(({ id }) => id === state);
  if (actor === undefined || chart === undefined || node === undefined)
    return <p class="empty">Choose a state in the chart.</p>;
  const path = node.id.slice(node.id.indexOf('.') + 1);
  const isIn = (states: string): boolean =>
    states.split(' & ').some((each) => each === path || each.startsWith(`${path}.`));
  let entered = 0;
  let spent = 0;
  let since: number | undefined;
  for (const entry of entries) {
    if (entry.seq > view.seq) break;
    if (entry.actor !== actor.key || entry.kind !== 'step') continue;
    if (isIn(entry.to) && since === undefined) {
      entered += 1;
      since = entry.at;
    }
    if (!isIn(entry.to) && since !== undefined) {
      spent += entry.at - since;
      since = undefined;
    }
  }
  if (since !== undefined) spent += (isNow ? now : view.at) - since;
  const out = chart.edges.filter(({ source }) => source === node.id);
  return (
    <div class="state-facts">
      <h3>{path}</h3>
      {node.description === null ? null : <p>{node.description}</p>}
      <dl class="facts">
        <div>
          <dt>Entered</dt>
          <dd>{entered === 1 ? 'once' : `${entered} times`}</dd>
        </div>
        <div>
          <dt>Spent</dt>
          <dd>{duration(spent)}</dd>
        </div>
        {node.tags.length === 0 ? null : (
          <div>
            <dt>Tags</dt>
            <dd>{node.tags.join(', ')}</dd>
          </div>
        )}
        {node.invokes.map(({ id, src }) => (
          <div key={id}>
            <dt>Invokes</dt>
            <dd>{src === null || src === id ? id : `${id}: ${src}`}</dd>
          </div>
        ))}
      </dl>
      <table>
        <thead>
          <tr>
            <th>Event</th>
            <th>Guard</th>
            <th>Goes to</th>
            <th>Actions</th>
          </tr>
        </thead>
        <tbody>
          {out.map((edge) => (
            <tr key={edge.id} class={actor.step?.edges.includes(edge.id) === true ? 'taken' : ''}>
              <td>{edge.label === '' ? 'always' : edge.label}</td>
              <td class="guard-cell">{edge.guard ?? ''}</td>
              <td>
                {edge.target === null
                  ? edge.kind === 'forbidden'
                    ? 'nowhere'
                    : 'stays'
                  : edge.target.slice(edge.target.indexOf('.') + 1)}
              </td>
              <td>{edge.actions.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
