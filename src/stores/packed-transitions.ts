import type { HistoryEntry, Transition } from './store.ts';

/** The transitions of a commit as short JSON: `[from, to, event, from, to, event, …]`, and empty text where there are none. */
export const packTransitions = (transitions: readonly Transition[]): string => {
  if (transitions.length === 0) return '';
  const texts: string[] = [];
  for (const { from, to, event } of transitions) texts.push(from, to, event);
  return JSON.stringify(texts);
};

/** What `packTransitions` packed, with the commit's revision and time. */
export const unpackTransitions = (packed: string, revision: number, at: number): HistoryEntry[] => {
  const texts = packed === '' ? [] : (JSON.parse(packed) as string[]);
  const entries: HistoryEntry[] = [];
  for (let index = 0; index + 2 < texts.length; index += 3) {
    const [from = '', to = '', event = ''] = texts.slice(index, index + 3);
    entries.push({ from, to, event, revision, at });
  }
  return entries;
};
