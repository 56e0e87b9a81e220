import { AgentError } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';
import { type Bound, type Rules, checkGiven, checkOne, isA, isList, show } from '../sessions/option-bounds.ts';
import type { ScriptedAnswer, ScriptedReply } from './scripted-model.ts';

const anything: Bound = { says: 'anything', holds: () => true };

const reply = {
  text: anything,
  reasoning: anything,
  toolCalls: isList,
  finishReason: anything,
  refusal: anything,
  usage: anything,
} satisfies Record<keyof ScriptedReply, Bound>;

const call = { name: isA('string'), input: anything, id: isA('string') } satisfies Rules;

/** Throws `invalid-option` for what is no answer: what nobody knows would be left out without a word. */
export const checkAnswer = (given: unknown, where: string): void => {
  if (typeof given === 'string') return;
  if (!isPlainObject(given))
    throw new AgentError(
      'invalid-option',
      `${where} must be a text, or a reply such as { text } or { toolCalls }, got ${show(given)}`,
    );
  // A whole reply is looked at as those of all models are.
  if ('message' in given) return;
  checkGiven(given, reply, where);
  for (const [index, each] of ((given as ScriptedReply).toolCalls ?? []).entries()) {
    const what = `${where}: toolCalls[${index}]`;
    checkGiven(each, call, what);
    checkOne(each.name, call.name, `${what}: option "name"`);
  }
};

const list: Bound = { says: 'a list of answers, such as scriptedModel(["hello"])', holds: isList.holds };
const options = { name: isA('string') } satisfies Rules;

/** The same for all that is given; what functions give is looked at when they are asked. */
export const checkScript = (answers: readonly ScriptedAnswer[], given: object): void => {
  checkOne(answers, list, 'scriptedModel: the script');
  checkGiven(given, options, 'scriptedModel');
  for (const [index, answer] of answers.entries())
    if (typeof answer !== 'function' && !(answer instanceof Error))
      checkAnswer(answer, `scriptedModel: answer ${index + 1}`);
};
