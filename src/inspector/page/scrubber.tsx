/** @jsxImportSource preact */
import { useStore } from './use-store.ts';
import { clock, count, offset } from './words.ts';

/** The session's time: now, or any moment before. */
export const Scrubber = () => {
  const store = useStore();
  const { entries, position } = store;
  const last = entries.length - 1;
  const at = position ?? last;
  const entry = entries[at];
  const begin = entries[0]?.at ?? 0;
  return (
    <footer class={`scrubber ${store.isLive ? '' : 'past'}`} aria-label="Time">
      <button
        type="button"
        aria-label="One step back"
        disabled={at <= 0 || store.pastPart < 1}
        onClick={() => store.step(-1)}
      >
        ‹
      </button>
      <button type="button" aria-label="One step on" disabled={store.isLive} onClick={() => store.step(1)}>
        ›
      </button>
      <input
        type="range"
        min={0}
        max={Math.max(0, last)}
        value={Math.max(0, at)}
        disabled={last < 1 || store.pastPart < 1}
        aria-label="Moment"
        aria-valuetext={
          entry === undefined ? 'nothing yet' : `${at + 1} of ${last + 1}, ${offset(entry.at - begin)} seconds`
        }
        onInput={(event) => store.goTo(Number(event.currentTarget.value))}
      />
      <span class="moment">
        {entry === undefined ? '' : `${count(at + 1)} / ${count(last + 1)}`}
        <span class="offset">{entry === undefined ? '' : `+${offset(entry.at - begin)} s`}</span>
        <time>{entry === undefined ? '' : clock(entry.at)}</time>
      </span>
      {store.canFork ? (
        <button
          type="button"
          title="Makes a new session of all up to this moment. What tools did outside is not undone."
          onClick={() => void store.fork()}
        >
          Fork here
        </button>
      ) : null}
      <button
        type="button"
        class={store.isLive ? 'now' : 'primary'}
        aria-pressed={store.isLive}
        onClick={() => store.goTo(undefined)}
      >
        {store.isRecording ? 'End' : 'Now'}
      </button>
    </footer>
  );
};
