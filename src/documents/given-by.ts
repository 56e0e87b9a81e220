import type { Decision } from '../machines/agent-context.ts';
import type { CallResult } from '../tools/call.ts';

/** Who rejected the call, or answered it, going by the log of decisions. */
const giverOf = (
  { status }: Pick<CallResult, 'status'>,
  callId: string,
  decisions: readonly Decision[],
): string | undefined => {
  const last = decisions.findLast((each) => each.callId === callId);
  const isRejection = last?.decision === 'rejected' && status === 'rejected';
  const isAnswer = last?.decision === 'answered' && (status === 'ok' || status === 'failed');
  return isRejection || isAnswer ? last.by : undefined;
};

/** Who gave a result stands in the log of decisions, and there alone. */
export const withoutGiver = (result: CallResult, callId: string, decisions: readonly Decision[]): CallResult => {
  const { by, ...rest } = result;
  return by !== undefined && by === giverOf(result, callId, decisions) ? rest : result;
};

export const withGiver = (result: CallResult, callId: string, decisions: readonly Decision[]): CallResult => {
  if (result.by !== undefined) return result;
  const by = giverOf(result, callId, decisions);
  return by === undefined ? result : { ...result, by };
};
