// Run by a test in a process of its own: a stream fails, and nobody reads its events or its result.
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';

const session = await createAgent({ model: scriptedModel(['one']) }).open();
const agent = createAgent({ model: scriptedModel([new Error('no')]) });
agent.stream('go');
const failing = await agent.open('other');
void failing.send('go').catch(() => undefined);
await session.send('hello');
await session.settled();
console.log(JSON.stringify({ status: session.status }));
