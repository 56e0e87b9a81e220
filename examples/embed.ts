// The agent inside a machine of your own: invoked like any actor, its result arrives in `onDone`.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, RunResult } from 'agentchart';
import { type InspectionEvent, assign, createActor, setup, toPromise } from 'xstate';
import { createExpenseAgent } from './expense/create-expense-agent.ts';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

const createInvoiceMachine = (agent: Agent) =>
  setup({
    types: { context: {} as { note: string }, output: {} as string },
    actors: { agent: agent.machine },
    guards: { isAnswered: (_, { outcome }: RunResult) => outcome.type === 'answered' },
    actions: { keepNote: assign({ note: (_, { text }: RunResult) => text }) },
  }).createMachine({
    id: 'invoice',
    context: { note: '' },
    initial: 'received',
    states: {
      received: { on: { pay: 'paying' } },
      paying: {
        invoke: {
          id: 'agent',
          src: 'agent',
          // One turn, then the agent is done; it fails by its outcome, not by throwing.
          input: { message: 'Pay 300 to Mei for the taxi.', singleTurn: true },
          onDone: [
            {
              guard: { type: 'isAnswered', params: ({ event }) => event.output },
              target: 'paid',
              actions: { type: 'keepNote', params: ({ event }) => event.output },
            },
            { target: 'unpaid' },
          ],
        },
      },
      paid: { type: 'final' },
      unpaid: { type: 'final' },
    },
    output: ({ context }) => context.note,
  });

/** Prints every state of every machine in the system: the invoice, the agent, the agent's calls. */
const createPrinter = () => {
  const shown = new Map<string, string>();
  return (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep' || !('value' in event.snapshot)) return;
    const id = 'id' in event.actorRef ? String(event.actorRef.id) : event.rootId;
    const state = JSON.stringify(event.snapshot.value).replaceAll(/["{}]/g, '').replaceAll(':', '.');
    if (shown.get(id) !== state) console.log(`${id.padEnd(12)} ${state}`);
    shown.set(id, state);
  };
};

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(about);
  try {
    const ledger = join(mkdtempSync(join(tmpdir(), 'invoice-')), 'ledger.json');
    const machine = createInvoiceMachine(createExpenseAgent(model, ledger));
    const invoice = createActor(machine, { id: 'invoice', inspect: createPrinter() });
    invoice.start();
    invoice.send({ type: 'pay' });
    console.log(`\n${escapeText(await toPromise(invoice))}`);
    return invoice.getSnapshot().matches('paid') ? 0 : 1;
  } finally {
    await close();
  }
});
