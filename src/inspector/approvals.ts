import type { JsonObject } from '../messages/json.ts';
import { isAgent } from './actor-tree.ts';
import { list, number, optionalText, record, text } from './read-plain.ts';
import { isWhole } from './to-plain.ts';
import type { SessionView, ViewState } from './view-state.ts';

/** A call that waits for somebody, with what is needed to decide on it. */
export interface Approval {
  session: string;
  callId: string;
  tool: string;
  input: unknown;
  /** False: something in the arguments is hidden or cut, so they cannot be edited here. */
  canEdit: boolean;
  needs: 'approval' | 'result';
  inputHash: string;
  reason?: string | undefined;
  expiresAt?: number | undefined;
  refusedEdit?: string | undefined;
  description?: string | undefined;
  inputSchema?: JsonObject | undefined;
}

const waitingPhases = new Set(['awaiting-decision', 'awaiting-result', 'awaiting-agent']);

/** Every call of a session that waits, in call order; of an agent inside a call its own. Two calls of one tool are two. */
export const approvalsOf = (view: ViewState, session: SessionView): Approval[] => {
  const found: Approval[] = [];
  for (const actor of Object.values(session.actors)) {
    if (actor.endedAt !== undefined || !isAgent(actor)) continue;
    const tools = new Map((view.agents[actor.chart ?? '']?.tools ?? []).map((tool) => [tool.name, tool]));
    const round = record(record(actor.context)['round']);
    const inputs = new Map(
      list(record(round['reply'])['content']).map((part) => [text(record(part)['toolCallId']), record(part)['input']]),
    );
    for (const each of list(round['calls'])) {
      const { callId, tool, phase, waiting } = record(each);
      if (waiting === undefined || !waitingPhases.has(text(phase))) continue;
      const needs = record(waiting);
      const input = 'input' in needs ? needs['input'] : inputs.get(text(callId));
      const known = tools.get(text(tool));
      found.push({
        session: session.id,
        callId: text(callId),
        tool: text(tool),
        input,
        canEdit: isWhole(input),
        needs: needs['needs'] === 'result' ? 'result' : 'approval',
        inputHash: text(needs['inputHash']),
        reason: optionalText(needs['reason']),
        expiresAt: number(needs['expiresAt']),
        refusedEdit: optionalText(needs['refusedEdit']),
        description: known?.description,
        inputSchema: known?.inputSchema,
      });
    }
  }
  return found;
};

const counts = new WeakMap<SessionView, number>();

/** How many calls of a session wait. A session that did not change is counted once: there may be thousands. */
export const waitingIn = (view: ViewState, session: SessionView): number => {
  let count = counts.get(session);
  if (count === undefined) {
    const isOver = session.actors[session.root]?.status !== 'active';
    counts.set(session, (count = isOver ? 0 : approvalsOf(view, session).length));
  }
  return count;
};
