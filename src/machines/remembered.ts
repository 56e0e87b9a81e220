import { inputHash } from '../tools/input-hash.ts';
import type { AgentContext, Decision } from './agent-context.ts';

type Known = Pick<AgentContext, 'decisions' | 'round' | 'callPrefix'>;

type Verdict = 'approve' | 'reject';

const verdictOf = ({ decision }: Decision): Verdict => (decision === 'approved' ? 'approve' : 'reject');

/** An edit is no decision yet while it is checked: nothing is to run on the strength of one that may be refused. */
const isUnchecked = (decision: Decision, { decisions, round }: Known): boolean =>
  decision.edited === true &&
  round?.calls.find(({ callId }) => callId === decision.callId)?.phase === 'validating' &&
  decisions.findLast(({ callId }) => callId === decision.callId) === decision;

/** An agent inside a call remembers for itself. */
const isInside = ({ callId }: Decision, { callPrefix }: Known): boolean =>
  callId.slice(callPrefix.length).includes('-');

/** The decisions that hold for later calls of a tool (R28), oldest first. */
const ofTool = (context: Known, tool: string): Decision[] =>
  context.decisions.filter(
    (each) =>
      each.remembered !== undefined && each.tool === tool && !isInside(each, context) && !isUnchecked(each, context),
  );

/** Whether the session remembers anything for calls of the tool. */
export const isRemembered = (context: Known, tool: string): boolean => ofTool(context, tool).length > 0;

/**
 * What the session remembers for a call; a decision on exactly these arguments beats one on the tool, and of each the last one holds. An edit
 * is what was approved in place of what the model asked (`asked`), all else is shown as it was checked (`input`).
 */
export const recall = (
  context: Known,
  tool: string,
  { asked, input }: { asked: unknown; input: unknown },
): Verdict | undefined => {
  const known = ofTool(context, tool);
  if (known.length === 0) return undefined;
  const hash = inputHash(input);
  const askedHash = asked === input ? hash : inputHash(asked);
  const found =
    known.findLast(
      ({ remembered, editHash, inputHash: decided }) =>
        remembered === 'input' && (editHash === undefined ? decided === hash : editHash === askedHash),
    ) ?? known.findLast(({ remembered }) => remembered === 'tool');
  return found === undefined ? undefined : verdictOf(found);
};
