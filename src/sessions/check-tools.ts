import type { AnyStateMachine } from 'xstate';
import type { AgentSnapshot, Persisted } from '../documents/read-agent.ts';
import { AgentError } from '../errors.ts';
import { type CallPhase, ownTool } from '../tools/call.ts';
import type { ToolFinder } from '../tools/tool-finder.ts';

const finders = new WeakMap<object, ToolFinder>();

/** Remembers with which tools an agent's chart works: a chart itself does not know them. Copies by `provide` share its `config`. */
export const keepTools = (machine: AnyStateMachine, tools: ToolFinder): void => {
  finders.set(machine.config, tools);
};

/** The tools of an agent's chart, or of a copy of it; undefined for any other. */
export const toolsOf = (machine: AnyStateMachine): ToolFinder | undefined => finders.get(machine.config);

/** Whether a call may have lost its tool. */
export type MayLack = (call: { callId: string; phase: CallPhase }) => boolean;

/** One that waits for somebody can still be rejected, or answered in the tool's place. */
export const isWaiting: MayLack = ({ phase }) => phase === 'awaiting-decision' || phase === 'awaiting-result';

/**
 * Throws `incompatible-document` where a call is open whose tool the agent has no more: it would be answered as if the model had
 * made it up. One that is still to be checked is: its check says so. Tools that were added while a turn ran live as long as their process.
 */
export const checkTools = (machine: AnyStateMachine, { context, children }: AgentSnapshot, mayLack: MayLack): void => {
  const tools = toolsOf(machine);
  if (tools === undefined) return;
  for (const { callId, tool, toolKey, phase } of context.round?.calls ?? []) {
    const call = Object.hasOwn(children, callId) ? children[callId] : undefined;
    if (call === undefined || phase === 'settled' || phase === 'validating') continue;
    if (toolKey !== undefined && toolKey !== ownTool) continue;
    const found = tools.find({ tool });
    if (found === undefined && mayLack({ callId, phase })) continue;
    if (found === undefined) {
      throw new AgentError(
        'incompatible-document',
        `session "${context.sessionId}" has the open call ${callId} of the tool "${tool}", which this agent does not have; open it with the version of the agent that wrote it, or look at it with readOnly and reject the call by store.post`,
      );
    }
    const inside = (call.snapshot['children'] as Record<string, Persisted>)['agent'];
    if (inside !== undefined && found.agent !== undefined)
      checkTools(found.agent.machine as AnyStateMachine, inside.snapshot as AgentSnapshot, mayLack);
  }
};
