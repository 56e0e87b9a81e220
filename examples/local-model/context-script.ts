import { type Script, dataOf } from './conversation.ts';

/** Plays a person's assistant: what it knows of him stands in the instructions or in earlier messages, or it does not know it. */
export const contextScript: Script = ({ question, results, before }) => {
  if (question.startsWith('My favourite')) return { text: 'Noted.' };
  if (question === 'What shall I drink?') {
    const [, drink] = /favourite drink is ([\w ]+)/.exec(before) ?? [];
    return { text: drink === undefined ? 'I do not know what you like.' : `A ${drink}, as always.` };
  }
  if (question.startsWith('The conversation:')) {
    const facts = [...question.matchAll(/user: (My favourite [^\n]+)/g)].map(([, fact]) => fact);
    return { text: `Said by the user: ${facts.join(' ')}` };
  }
  if (question.startsWith('How long')) {
    if (results.length === 0)
      return { calls: ['tea', 'coffee'].map((drink) => ({ name: 'BrewTime', input: { drink } })) };
    const times = results.map(({ text }) => dataOf<{ drink: string; minutes: number }>({ tool: '', text }));
    return {
      text: times.map((each) => (each === undefined ? 'not now' : `${each.drink}: ${each.minutes} min`)).join(', '),
    };
  }
  return undefined;
};
