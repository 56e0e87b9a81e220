import type { Script } from './conversation.ts';

/** Says much: numbers up to the one that is asked for, or their sum. */
export const countScript: Script = ({ question, before }) => {
  const [, last] = /^Count to (\d+)/.exec(question) ?? [];
  if (last !== undefined) return { text: Array.from({ length: Number(last) }, (_, index) => index + 1).join(' ') };
  const [, from, to] = /^The sum of (\d+) to (\d+)/.exec(question) ?? [];
  if (from !== undefined && to !== undefined) {
    const sum = ((Number(to) - Number(from) + 1) * (Number(from) + Number(to))) / 2;
    return { thought: 'Pairs from both ends have the same sum.', text: `It is ${sum}.` };
  }
  const [, sum] = /It is (\d+)\.$/.exec(before) ?? [];
  return question === 'And twice that?' && sum !== undefined ? { text: `${Number(sum) * 2}.` } : undefined;
};
