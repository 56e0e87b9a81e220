import { type Message, callsOf, textOf } from '../../../src/index.ts';
import { violations } from '../../../src/testing/index.ts';
import { outputText } from '../../support/transcript.ts';
import { type Noted, type ToolName, annotationsOf, toolNames } from './plan.ts';

const mayRunAgain = (tool: ToolName): boolean =>
  annotationsOf[tool].readOnly === true || annotationsOf[tool].idempotent === true;

export interface Checked {
  problems: string[];
  /** Calls whose outcome the session could not know. */
  unknown: number;
  /** Runs of tools beyond the first of each call. */
  again: number;
  /** Model calls beyond two. */
  askedAgain: number;
}

/** Whether a session came to its one right end, by what is in it and by what the workers noted. */
export const checkSession = (sessionId: string, messages: readonly Message[], all: readonly Noted[]): Checked => {
  const noted = all.filter((each) => each.sessionId === sessionId);
  const problems = violations(messages);
  const expect = (holds: boolean, what: string): void => {
    if (!holds) problems.push(`${sessionId}: ${what}`);
  };
  const reply = messages[1];
  const calls = reply?.role === 'assistant' ? callsOf(reply) : [];
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  expect(messages.map(({ role }) => role).join() === 'user,assistant,tool,assistant', 'its history is another one');
  expect(calls.length === toolNames.length && results.length === toolNames.length, 'a call or a result is missing');

  const asked = noted.filter((each) => each.type === 'asked');
  const runs = noted.filter((each) => each.type !== 'asked').filter(({ type }) => type === 'begun');
  const first = asked.filter((each) => each.results === 0);
  const last = asked.filter((each) => each.results > 0);
  const spoken = reply === undefined ? '' : textOf(reply);
  expect(spoken === first.at(-1)?.reply, 'the model was asked again after a reply of it was recorded');
  expect(
    textOf(messages.at(-1) ?? { role: 'user', content: '' }) === `Done. (${last.at(-1)?.reply})`,
    'its answer is not the one that was recorded last',
  );
  const firstRun = noted.findIndex((each) => each.type === 'begun');
  expect(
    !noted.slice(firstRun).some((each) => each.type === 'asked' && each.results === 0),
    'a reply was asked for again after its calls ran',
  );
  const firstEnd = noted.findIndex((each) => each.type === 'asked' && each.results > 0);
  expect(
    !noted.slice(firstEnd).some((each) => each.type === 'begun'),
    'a call ran again after its result was recorded',
  );

  let unknown = 0;
  for (const [index, { toolCallId, toolName, output }] of results.entries()) {
    const tool = toolName as ToolName;
    const text = outputText(output);
    const begun = runs.filter(({ callId }) => callId === toolCallId).length;
    const isUnknown = text.includes('whether it took effect is unknown');
    if (isUnknown) unknown += 1;
    expect(toolCallId === calls[index]?.toolCallId, 'results stand in another order than calls');
    expect(isUnknown || text.startsWith(`${tool} by `), `${tool} has a result that is none: ${text}`);
    if (!mayRunAgain(tool)) expect(begun <= 1, `${tool} ran ${begun} times`);
    else expect(!isUnknown, `${tool} could have been run again`);
    expect(begun > 0 || isUnknown, `${tool} has a result and never ran`);
  }
  return {
    problems,
    unknown,
    again: runs.length - new Set(runs.map(({ callId }) => callId)).size,
    askedAgain: asked.length - 2,
  };
};
