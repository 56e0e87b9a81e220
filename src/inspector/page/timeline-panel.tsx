/** @jsxImportSource preact */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { visible } from '../escape-control.ts';
import type { TimelineEntry } from '../timeline.ts';
import { useStore } from './use-store.ts';
import { duration, offset, toneOf } from './words.ts';

const rowHeight = 24;
/** A pause that is worth telling. */
const longGap = 5_000;

const matches = (entry: TimelineEntry, words: string): boolean =>
  `${entry.name} ${entry.kind} ${entry.from} ${entry.to} ${entry.cause} ${entry.guard ?? ''} ${entry.note}`
    .toLowerCase()
    .includes(words);

const Words = ({ entry }: { entry: TimelineEntry }) => {
  const { kind, from, to, cause, guard, note } = entry;
  if (kind === 'step') {
    return (
      <>
        {from === to ? null : (
          <>
            <span class="from">{from}</span> <span class="arrow-sign">→</span>{' '}
          </>
        )}
        <b class={toneOf(...to.split('.').toReversed())}>{to}</b>
        <span class="cause">{visible(cause)}</span>
        {guard === undefined ? null : <span class="guard">{guard}</span>}
      </>
    );
  }
  return (
    <>
      <b class={kind === 'error' || kind === 'failure' ? 'bad' : ''}>{kind}</b>
      <span class={kind === 'settled' ? `status ${toneOf(to)}` : 'from'}>{to}</span>
      <span class="cause">{visible(`${cause} ${note}`)}</span>
    </>
  );
};

/** Every transition, the newest last; a click shows that moment. Only what is in sight is drawn. */
export const TimelinePanel = () => {
  const store = useStore();
  const { entries, position } = store;
  const [words, setWords] = useState('');
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(300);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const filter = words.trim().toLowerCase();
  const rows = useMemo(() => {
    const all: number[] = [];
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index];
      if (entry === undefined || (filter === '' ? entry.kind === 'ignored' : !matches(entry, filter))) continue;
      all.push(index);
    }
    return all;
    // The list grows in place.
  }, [entries, entries.length, filter]);
  const chosen = position === undefined ? -1 : rows.findLastIndex((index) => index <= position);

  useEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const observer = new ResizeObserver(() => setHeight(box.clientHeight));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    if (position === undefined) {
      if (isAtEnd.current) box.scrollTop = box.scrollHeight;
      return;
    }
    const y = chosen * rowHeight;
    if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - rowHeight) box.scrollTop = y - box.clientHeight / 2;
  }, [rows.length, position, chosen]);

  const first = Math.max(0, Math.floor(top / rowHeight) - 4);
  const visibleRows = rows.slice(first, first + Math.ceil(height / rowHeight) + 8);
  const begin = entries[0]?.at ?? 0;
  return (
    <div class="timeline">
      <div class="filter">
        <input
          type="search"
          id="filter"
          placeholder="Filter: a state, an event, a tool…"
          aria-label="Filter the timeline"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        {store.pastPart < 1 ? (
          <span class="reading" role="status">
            reading the past: {Math.floor(store.pastPart * 100)} %
          </span>
        ) : null}
        <span class="count">{filter === '' ? rows.length : `${rows.length} of ${entries.length}`}</span>
      </div>
      <div
        class="rows"
        ref={scroller}
        onScroll={({ currentTarget: box }) => {
          setTop(box.scrollTop);
          isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < rowHeight * 2;
        }}
      >
        <div class="spacer" style={{ height: `${rows.length * rowHeight}px` }} role="list" aria-label="Timeline">
          {visibleRows.map((index, place) => {
            const entry = entries[index];
            if (entry === undefined) return null;
            const before = entries[index - 1];
            const gap = before === undefined ? 0 : entry.at - before.at;
            return (
              <div
                key={entry.seq}
                role="listitem"
                class="row-place"
                style={{ top: `${(first + place) * rowHeight}px` }}
              >
                <button
                  type="button"
                  class={`row ${entry.kind}`}
                  aria-current={first + place === chosen ? 'true' : undefined}
                  onClick={() => store.goTo(index)}
                >
                  <time>{offset(entry.at - begin)}</time>
                  <span class="row-name">{visible(entry.name)}</span>
                  <span class="row-words">
                    <Words entry={entry} />
                  </span>
                  {gap >= longGap ? <span class="gap">{duration(gap)} later</span> : null}
                </button>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
};
