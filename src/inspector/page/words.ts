/** A span of time as people read it. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
};

/** Since the session began. */
export const offset = (ms: number): string => {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)}`;
  const seconds = Math.floor(ms / 1_000);
  const rest = `${String(Math.floor((seconds % 3_600) / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
  return seconds < 3_600 ? rest : `${Math.floor(seconds / 3_600)}:${rest}`;
};

const clockFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });

export const clock = (at: number): string => clockFormat.format(at);

export const count = (value: number): string => value.toLocaleString('en-US');

/** One tone for a state, a status or a phase, so that the same thing has the same colour everywhere. */
export type Tone = 'busy' | 'wait' | 'good' | 'bad' | 'quiet';

const tones: Record<string, Tone> = {
  busy: 'busy',
  thinking: 'busy',
  acting: 'busy',
  observing: 'busy',
  running: 'busy',
  delegating: 'busy',
  validating: 'busy',
  active: 'busy',
  waiting: 'wait',
  'awaiting-approval': 'wait',
  'awaiting-decision': 'wait',
  'awaiting-result': 'wait',
  'awaiting-agent': 'wait',
  'backing-off': 'wait',
  limited: 'wait',
  'timed-out': 'bad',
  failed: 'bad',
  error: 'bad',
  refused: 'bad',
  'outcome-unknown': 'bad',
  rejected: 'wait',
  ok: 'good',
  answered: 'good',
};

export const toneOf = (...words: (string | undefined)[]): Tone => {
  for (const word of words) {
    const tone = tones[word ?? ''];
    if (tone !== undefined) return tone;
  }
  return 'quiet';
};

/** Of the innermost state outwards: `done.failed` is bad, though `done` is good. */
export const toneOfStates = (states: readonly string[]): Tone => toneOf(...(states[0] ?? '').split('.').toReversed());
