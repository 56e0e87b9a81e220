import { expect, test } from 'vitest';
import { type Message, createAgent } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const spoil = (messages: readonly Message[]): void => {
  for (const message of messages) Object.assign(message, { role: 'user', content: 'spoilt' });
};

test('R48: whoever reads the history of a session changes nothing in it', async () => {
  const asked: string[] = [];
  const note = (who: string, messages: readonly Message[]): void => {
    asked.push(who);
    spoil(messages);
  };
  const model = scriptedModel([calls(call('look')), 'done']);
  const agent = createAgent({
    model,
    instructions: ({ messages }) => {
      note('instructions', messages);
      return '';
    },
    stopWhen: ({ messages }) => {
      note('stopWhen', messages);
      return false;
    },
    tools: [
      toolOf(
        'look',
        (_, ctx) => {
          note('execute', ctx.messages);
          return 'seen';
        },
        {
          needsApproval: (_, ctx) => {
            note('needsApproval', ctx.messages);
            return false;
          },
        },
      ),
    ],
  });
  const session = await agent.open();
  await agent.run('hello', { session });
  expect([...new Set(asked)]).toEqual(['instructions', 'needsApproval', 'execute', 'stopWhen']);
  expect(JSON.stringify([session.messages, model.requests])).not.toContain('spoilt');
});

test('R29: whoever is asked whether a call may run cannot change what runs', async () => {
  const spoilt = { a: { n: 'spoilt' } };
  for (const asks of ['needsApproval', 'policy']) {
    const ran: unknown[] = [];
    const change = (who: string, input: unknown): void => {
      if (who === asks) Object.assign(input as object, spoilt);
    };
    const look = toolOf('look', (input) => ran.push(input), {
      needsApproval: (input) => {
        change('needsApproval', input);
        return false;
      },
    });
    const policy = ({ input }: { input: unknown }) => {
      change('policy', input);
      return 'approve' as const;
    };
    const model = scriptedModel([calls(call('look', { a: { n: 1 } })), 'done']);
    await createAgent({ model, tools: [look], ...(asks === 'policy' ? { approvals: { policy } } : {}) }).run('go');
    expect(ran).toEqual([{ a: { n: 1 } }]);
  }
});
