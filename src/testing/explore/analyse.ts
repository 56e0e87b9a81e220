import type { Fault } from './invariants.ts';
import type { Place } from './walk.ts';

export interface FaultAt extends Fault {
  at: Place;
}

const steps = (place: Place): { kind: 'work' | 'outside'; label: string; to: Place }[] =>
  place.choices.flatMap(({ kind, label }, index) => {
    const to = place.next[index];
    return to === undefined ? [] : [{ kind, label, to }];
  });

const work = (place: Place): Place[] => steps(place).flatMap(({ kind, to }) => (kind === 'work' ? [to] : []));

/** A way round on which nobody outside does anything: no limit ends it (R24). */
const endless = (places: readonly Place[]): FaultAt[] => {
  const over = new Set<Place>();
  const onPath = new Set<Place>();
  for (const start of places) {
    const path: { place: Place; left: Place[] }[] = [{ place: start, left: work(start) }];
    if (over.has(start)) continue;
    onPath.add(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.left.pop();
      if (next === undefined) {
        onPath.delete(top.place);
        over.add(top.place);
        path.pop();
      } else if (onPath.has(next)) {
        const ring = path.slice(path.findIndex(({ place }) => place === next)).map(({ place }) => place.state);
        return [
          {
            rule: 'endless',
            message: `nobody outside is needed to go round ${[...ring, next.state].join(' → ')}`,
            at: next,
          },
        ];
      } else if (!over.has(next)) {
        onPath.add(next);
        path.push({ place: next, left: work(next) });
      }
    }
  }
  return [];
};

/** Nothing works, nobody is waited for, and the turn is not over. */
const deadEnds = (places: readonly Place[]): FaultAt[] =>
  places
    .filter(
      (place) => place.tags.has('busy') && !place.choices.some(({ kind, isAlarm }) => kind === 'work' && !isAlarm),
    )
    .map((at) => ({ rule: 'dead-end', message: 'nothing works, and nobody is waited for', at }));

/** No event of any kind leads to the end of the turn. */
const lost = (places: readonly Place[]): FaultAt[] => {
  const before = new Map<Place, Place[]>();
  for (const place of places) for (const { to } of steps(place)) before.set(to, [...(before.get(to) ?? []), place]);
  const found = new Set(places.filter(({ tags }) => tags.has('settled')));
  for (const place of found) for (const each of before.get(place) ?? []) found.add(each);
  return places
    .filter((place) => !found.has(place))
    .map((at) => ({ rule: 'no-way-to-done', message: 'nothing that can happen leads to the end of the turn', at }));
};

/** After a stop only what is under way may end: the model is not asked again, and the session comes to rest (R35). */
const unstoppable = (places: readonly Place[]): FaultAt[] => {
  const faults: FaultAt[] = [];
  const safe = new Set<Place>();
  const follow = (place: Place): void => {
    for (const queue = [place]; queue.length > 0;) {
      const at = queue.pop();
      if (at === undefined || safe.has(at)) continue;
      safe.add(at);
      const next = work(at);
      if (at.state.startsWith('thinking'))
        faults.push({ rule: 'unstoppable', message: 'the model is asked after a stop', at });
      else if (next.length === 0 && !at.tags.has('settled'))
        faults.push({ rule: 'unstoppable', message: 'the session does not come to rest after a stop', at });
      else queue.push(...next);
    }
  };
  for (const place of places) {
    if (place.isOver || (!place.tags.has('busy') && !place.tags.has('waiting'))) continue;
    const stopped = steps(place).find(({ label }) => label === 'stop');
    if (stopped === undefined) faults.push({ rule: 'unstoppable', message: 'a stop is not taken', at: place });
    else follow(stopped.to);
  }
  return faults;
};

/** What is wrong with where one can get to. `places` are all that there are. */
export const analyse = (places: readonly Place[]): FaultAt[] => [
  ...endless(places),
  ...deadEnds(places),
  ...lost(places),
  ...unstoppable(places),
];
