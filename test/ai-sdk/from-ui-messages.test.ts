import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { fromUIMessages, hasAllDecisions } from '../../src/ai-sdk/index.ts';
import type { PendingCall } from '../../src/tools/call.ts';

const message = (role: UIMessage['role'], parts: UIMessage['parts']): UIMessage => ({ id: role, role, parts });

const asked = (id: string, approved?: boolean, reason?: string): UIMessage['parts'][number] => {
  const call = { type: 'tool-pay' as const, toolCallId: id, input: {} };
  const descriptor = { inputHash: `hash of ${id}` };
  if (approved === undefined) return { ...call, state: 'approval-requested', approval: { id, descriptor } };
  return {
    ...call,
    state: 'approval-responded',
    approval: { id, approved, descriptor, ...(reason === undefined ? {} : { reason }) },
  };
};

const waiting = (callId: string, needs: PendingCall['needs'] = 'approval'): PendingCall => ({
  callId,
  path: [],
  tool: 'pay',
  input: {},
  needs,
  inputHash: '',
});

test('only the last message is new, with its files; data parts are for the page', () => {
  const found = fromUIMessages([
    message('user', [{ type: 'text', text: 'old' }]),
    message('assistant', [{ type: 'text', text: 'yes' }]),
    message('user', [
      { type: 'text', text: 'look' },
      { type: 'file', url: 'data:image/png;base64,aGk=', mediaType: 'image/png', filename: 'a.png' },
      { type: 'data-note', data: 1 },
    ]),
  ]);
  expect(found).toEqual({
    message: {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'file', data: 'data:image/png;base64,aGk=', mediaType: 'image/png', filename: 'a.png' },
      ],
    },
    approvals: [],
    results: [],
  });
});

test('approvals are those that people answered, with the hash of what they saw', () => {
  const answers = message('assistant', [asked('a', true), asked('b', false, 'too much'), asked('c')]);
  const expected = [
    { callId: 'a', approved: true, inputHash: 'hash of a' },
    { callId: 'b', approved: false, reason: 'too much', inputHash: 'hash of b' },
  ];
  expect(fromUIMessages([answers]).approvals).toEqual(expected);
  expect(fromUIMessages([answers]).message).toBeUndefined();
  expect(fromUIMessages([answers], { pending: [waiting('b'), waiting('c')] }).approvals).toEqual(expected.slice(1));
});

test('results are taken only for calls that wait for one', () => {
  const call = { type: 'tool-locate' as const, input: {} };
  const answers = message('assistant', [
    { ...call, toolCallId: 'a', state: 'output-available', output: { city: 'Bern' } },
    { ...call, toolCallId: 'b', state: 'output-error', errorText: 'no GPS' },
    { ...call, toolCallId: 'c', state: 'output-available', output: 1 },
  ]);
  expect(fromUIMessages([answers]).results).toEqual([]);
  expect(fromUIMessages([answers], { pending: [waiting('a', 'result'), waiting('b', 'result')] }).results).toEqual([
    { callId: 'a', output: { city: 'Bern' } },
    { callId: 'b', output: 'Error: no GPS' },
  ]);
});

test('what is no message is refused where it is wrong', () => {
  const broken = [message('user', [{ type: 'file', url: 'file:///etc/passwd', mediaType: 'text/plain' }])];
  expect(() => fromUIMessages(broken)).toThrow('data: found "file:///etc/passwd"');
  const calls = [
    message('user', []),
    message('assistant', [{ type: 'text', text: 'hi' }, { type: 'tool-Pay' } as never]),
  ];
  expect(() => fromUIMessages(calls)).toThrow('messages[1].parts[1]: give a tool call with toolCallId and state');
  expect(() => Reflect.apply(fromUIMessages, undefined, ['no']) as unknown).toThrow('give the array of messages');
});

test('a page may send when the last open approval is answered', () => {
  expect(hasAllDecisions({ messages: [message('assistant', [asked('a', true), asked('b', false)])] })).toBe(true);
  expect(hasAllDecisions({ messages: [message('assistant', [asked('a', true), asked('b')])] })).toBe(false);
  expect(hasAllDecisions({ messages: [message('assistant', [{ type: 'text', text: 'hi' }])] })).toBe(false);
  expect(hasAllDecisions({ messages: [message('assistant', [asked('a', true)]), message('user', [])] })).toBe(false);
});
