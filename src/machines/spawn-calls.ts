import type { ModelReply } from '../models/chat-model.ts';
import type { AgentContext } from './agent-context.ts';
import { specsOf } from './round.ts';
import { beginRound, refusalOf } from './round-steps.ts';
import type { AgentRules } from './rules.ts';
import type { ToolCallInput } from './tool-call-context.ts';

type Spawn = (src: 'toolCall', options: { id: string; input: ToolCallInput }) => unknown;

/** All calls of a reply as actors, in one step of the chart: to spawn each by itself takes the square of their number. */
export const spawnCalls = (context: AgentContext, reply: ModelReply, rules: AgentRules, spawn: Spawn): AgentContext => {
  const next = beginRound(context, reply, rules);
  const running = new Set(next.round.calls.filter(({ phase }) => phase === 'running').map(({ callId }) => callId));
  for (const call of specsOf(next.round, context.turn.iterations + 1)) {
    const refusal = refusalOf(context, call.tool, rules);
    const input = {
      call,
      sessionId: context.sessionId,
      ...(refusal === undefined ? {} : { refusal }),
      ...(running.has(call.callId) ? { mayStart: true } : {}),
    };
    spawn('toolCall', { id: call.callId, input });
  }
  return next;
};
