import { expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { F1 } from '../support/tools.ts';

const model = scriptedModel([]);
const make = (options: object) => () => createAgent({ model, ...options });
const bad = [0, -1, Number.NaN, Infinity, '3', null];

test.each([
  'limits.maxIterations',
  'limits.maxConsecutiveErrors',
  'limits.maxTokens',
  'limits.maxToolCalls',
  'limits.deadline',
  'concurrency',
  'retry.attempts',
  'idleTimeout',
  'stopGrace',
  'approvals.expireAfter',
])('R1/D45: %s out of bounds is refused with setting, value and bound', (name) => {
  const mayBeZero = name === 'limits.maxConsecutiveErrors' || name === 'stopGrace';
  const isInteger = /maxIterations|Errors|maxTokens|maxToolCalls|concurrency|attempts/.test(name);
  const values = [...bad.filter((value) => value !== 0 || !mayBeZero), ...(isInteger ? [1.5] : [])];
  for (const value of values) {
    const [first = '', second] = name.split('.');
    const options = second === undefined ? { [first]: value } : { [first]: { [second]: value } };
    const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
    expect(make(options)).toThrow(
      expect.objectContaining({
        name: 'AgentError',
        code: 'invalid-option',
        message: expect.stringMatching(
          new RegExp(`^createAgent: option "${name}" must be .*, got ${shown.replaceAll('.', '\\.')}$`),
        ),
      }),
    );
  }
});

test('R1/L02: what is left out, or undefined, has its default', () => {
  expect(make({ limits: {}, concurrency: undefined, limitsOff: undefined })).toThrow(/there is no option "limitsOff"/);
  expect(make({ limits: {}, concurrency: undefined, approvals: undefined })).not.toThrow();
  expect(make({ limits: { maxConsecutiveErrors: 0 }, stopGrace: 0 })).not.toThrow();
});

test.each([
  [{ tolls: [] }, /no option "tolls"; known here: model, /],
  [{ limits: { maxIteration: 3 } }, /no option "limits.maxIteration"; known here: maxIterations, /],
  [{ limits: 3 }, /option "limits" must be an object, got 3/],
  [{ limits: { onLimit: 'stop' } }, /"limits.onLimit" must be "finalize" or "pause" or "fail", got "stop"/],
  [{ approvals: { hold: 'none' } }, /"approvals.hold" must be "all" or "gated"/],
  [{ approvals: { onMessage: true } }, /"approvals.onMessage" must be/],
  [{ toolChoice: 'any' }, /"toolChoice" must be/],
  [{ toolChoice: {} }, /"toolChoice" must be/],
  [{ tools: {} }, /"tools" must be an array/],
  [{ fallback: ['gpt'] }, /"fallback" must be an array of ChatModels/],
  [{ instructions: 3 }, /"instructions" must be a string, or a function/],
  [{ autopilot: 'yes' }, /"autopilot" must be a boolean/],
  [{ stopWhen: true }, /"stopWhen" must be a function/],
  [{ name: 3 }, /"name" must be a string/],
  [{ name: '' }, /"name" must be a string .*, and not empty/],
  [
    { store: {} },
    /"store" must be a path, or a SessionStore: durable \(true or false\) and the functions read, commit/,
  ],
  [{ clock: {} }, /"clock" must be a Clock: an object with functions now, setTimeout and clearTimeout, got {}/],
  [{ limits: { maxToolCalls: 0.5 } }, /"limits.maxToolCalls" must be an integer ≥ 1, got 0.5/],
  [{ toolChoice: { tool: 'zzz' } }, /"toolChoice" names "zzz", which is none of the agent's tools; its tools: none/],
  [{ settings: { temperature: 'hot' } }, /"settings.temperature" must be a number ≥ 0, got "hot"/],
  [{ settings: { temprature: 1 } }, /no option "settings.temprature"; known here: temperature, /],
  [{ settings: { stopSequences: [1] } }, /"settings.stopSequences" must be an array of strings/],
  [{ settings: { providerOptions: { at: new Date() } } }, /"settings.providerOptions" must be an object of plain JSON/],
  [{ toolMiddleware: [() => 5] }, /toolMiddleware\[0\] gave no function; return \(run\) => next\(run\)/],
  [{ idleTimeout: 1e12 }, /"idleTimeout" must be a number of ms > 0, at most 2147483647/],
])('R1: %j is refused', (options, message) => {
  expect(make(options)).toThrow(message);
});

test.each([undefined, null, 'gpt', {}, { name: 'x' }, { generate: () => undefined }])(
  'L01/LC4: the model %j is refused with what is needed',
  (given) => {
    // @ts-expect-error: the type says what a model is.
    expect(() => createAgent({ model: given })).toThrow(
      /option "model" (is missing|must be a ChatModel: an object with a name and a generate function).*/,
    );
  },
);

test.each([undefined, null, 3, []])('L01: createAgent(%j) is refused', (given) => {
  // @ts-expect-error: the type says what is needed.
  expect(() => createAgent(given)).toThrow(expect.objectContaining({ code: 'invalid-option' }));
});

test('two tools of one name are refused', () => {
  expect(make({ tools: [F1, F1] })).toThrow(
    expect.objectContaining({ code: 'invalid-tool', message: 'tools has two tools named "F1": rename one of them' }),
  );
});

test('a tool that is none is refused', () => {
  expect(make({ tools: [{ name: 'x', execute: () => 1 }] })).toThrow(/tools\[0\] is no tool: make it with tool\(\)/);
});

test('a tool without a schema is refused', () => {
  // @ts-expect-error: the type says what is needed.
  expect(() => tool({ name: 'x', execute: () => 1 })).toThrow(
    expect.objectContaining({ code: 'invalid-tool', message: expect.stringContaining('"inputSchema" is missing') }),
  );
});
