import { z } from 'zod';
import { type Agent, type AgentOptions, type Tool, createAgent } from '../../src/index.ts';
import type { ExploreOptions } from '../../src/testing/index.ts';
import { outsideTool, toolOf } from '../support/tools.ts';

/** Never asked: `explore` scripts every effect. */
const model = { name: 'none', generate: () => Promise.reject(new Error('nobody asks it')) };

const plain = toolOf('plain', () => 'done', { retry: { attempts: 2 } });
const direct = toolOf('direct', () => 'done', { returnDirect: true });
const outside = outsideTool('outside');
const inner = createAgent({ model, name: 'inner' });
const helper: Tool = inner.asTool({ name: 'helper', description: 'asks another agent' });
const speechless: Tool = inner.asTool({ name: 'speechless', description: 'asks nothing', message: () => '' });

const agentWith = (options: Partial<AgentOptions> = {}): Agent =>
  createAgent({ model, retry: { attempts: 2 }, ...options });

/** Out of bounds for an agent. Here, where no time passes, it means that a deadline that rings is always past. */
const past = 0;

/** Agents whose options together switch everything of the two charts on, each with how it is explored. */
export const exploredAgents: Record<string, [agent: Agent, options: ExploreOptions]> = {
  'the defaults': [agentWith(), {}],
  'tools that run at once, return directly, are answered outside': [
    agentWith({ tools: [plain, direct, outside] }),
    { calls: [['plain'], ['direct'], ['outside']], limits: { maxIterations: 1, maxConsecutiveErrors: 0 } },
  ],
  'two calls, one after the other': [
    agentWith({ tools: [outside], concurrency: 1, approvals: { hold: 'gated' } }),
    { calls: [['outside', 'outside']], limits: { maxIterations: 1, maxConsecutiveErrors: 0 } },
  ],
  'agents inside calls': [
    agentWith({ tools: [helper, speechless] }),
    { calls: [['helper'], ['speechless']], limits: { maxIterations: 1, maxConsecutiveErrors: 0 } },
  ],
  'a deadline, and an expiry of approvals': [
    agentWith({ approvals: { expireAfter: 1000 } }),
    { limits: { maxIterations: 1, maxConsecutiveErrors: 1, deadline: past } },
  ],
  'a fallback, a loop that ends the turn, a question after each round': [
    agentWith({
      fallback: [model],
      retry: { attempts: 1 },
      loopDetection: { threshold: 2, stop: true },
      stopWhen: () => false,
    }),
    { limits: { maxIterations: 2, maxConsecutiveErrors: 1, onLimit: 'pause', deadline: past } },
  ],
  'limits that fail': [
    agentWith({ stopOnUnknownTool: true, tools: [plain] }),
    {
      calls: [['plain'], ['unknown-tool'], ['plain', 'plain']],
      limits: { maxIterations: 1, maxConsecutiveErrors: 1, maxToolCalls: 1, onLimit: 'fail' },
    },
  ],
  'messages that supersede': [
    agentWith({ tools: [outside], approvals: { onMessage: 'supersede' } }),
    { calls: [['outside', 'outside']], limits: { maxIterations: 1, maxConsecutiveErrors: 1 }, singleTurn: true },
  ],
  'messages that are refused': [
    agentWith({ tools: [outside], approvals: { onMessage: 'refuse' } }),
    { calls: [['outside', 'outside']], limits: { maxIterations: 1, maxConsecutiveErrors: 1 }, singleTurn: true },
  ],
  'a structured answer that the provider holds to': [
    agentWith({ model: { ...model, canOutput: true }, output: z.object({}) }),
    { limits: { maxIterations: 1, maxConsecutiveErrors: 0 } },
  ],
  'a structured answer by a tool': [
    agentWith({ output: z.object({}) }),
    { calls: [['final_answer']], limits: { maxIterations: 1, maxConsecutiveErrors: 0 } },
  ],
  'manual mode': [agentWith({ autopilot: false }), {}],
  'somebody who is told of every turn': [
    agentWith({ contextProviders: [{ name: 'memory', afterTurn: () => undefined }] }),
    { limits: { maxIterations: 1, maxConsecutiveErrors: 0 } },
  ],
  'one turn, a question after its round': [
    agentWith({ stopWhen: () => false }),
    { singleTurn: true, limits: { maxIterations: 1, maxConsecutiveErrors: 1 } },
  ],
};
