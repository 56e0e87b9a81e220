import type { Message } from '../messages/message.ts';
import type { Reach } from './reach.ts';
import type { Strategy } from './strategy.ts';

const summaryOf = (text: string): Message => ({
  role: 'user',
  content: `Notes on the conversation so far, in place of its older messages:\n\n${text}`,
});

/**
 * The conversation as it is sent when the strategies have got so far. What no strategy takes away: the first system message, and the user's
 * message that the kept part belongs to.
 */
export const applyReaches = (
  messages: readonly Message[],
  strategies: readonly Strategy[],
  reaches: ReadonlyMap<string, Reach>,
): readonly Message[] => {
  let replaced = messages;
  let cut = 0;
  const texts: string[] = [];
  for (const { name, replace } of strategies) {
    const reach = reaches.get(name);
    if (reach === undefined) continue;
    if (replace !== undefined) {
      replaced = replaced.map((message, index) => (index < reach.upTo ? replace(message) : message));
      continue;
    }
    cut = Math.max(cut, reach.upTo);
    if (reach.text !== undefined) texts.push(reach.text);
  }
  if (cut === 0) return replaced;
  const old = replaced.slice(0, cut);
  const kept = replaced.slice(cut);
  const system = old.find(({ role }) => role === 'system');
  const asked = kept[0]?.role === 'user' ? undefined : old.findLast(({ role }) => role === 'user');
  return [
    ...(system === undefined ? [] : [system]),
    ...texts.map(summaryOf),
    ...(asked === undefined ? [] : [asked]),
    ...kept,
  ];
};
