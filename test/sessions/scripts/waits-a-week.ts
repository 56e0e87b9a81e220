// Ends by itself, though an approval with an expiry is pending.
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../../support/tools.ts';

const agent = createAgent({
  model: scriptedModel([calls(call('gated'))]),
  tools: [toolOf('gated', () => 'ran', { needsApproval: true })],
  approvals: { expireAfter: 7 * 24 * 3600 * 1000 },
});
const { outcome } = await agent.run('go');
console.log(JSON.stringify({ outcome: outcome.type }));
