import type { AgentEvent } from '../../sessions/agent-event.ts';
import type { UIMessageChunk } from './ui-types.ts';

type InputDelta = Extract<AgentEvent, { type: 'tool-input-delta' }>;

/** Arguments that are shown while the model still writes them, under the id that their call will have. */
export interface StreamedInputs {
  /** Learns where the session is. */
  hear(event: AgentEvent): void;
  write(delta: InputDelta): UIMessageChunk[];
  /** The call was made: what was shown of it is no longer open. */
  settle(callId: string): void;
  /** Ends what was shown of calls that were never made. */
  abandon(): UIMessageChunk[];
  forget(): void;
}

const idPattern = /^call_(\d+)_\d+$/;

/**
 * A call gets its id when the reply is whole, `call_<round>_<index>`, and a page cannot rename what it shows. So arguments are shown early
 * where the number of the round is certain: in the first turn of a session, and after the first round that this stream has seen. Elsewhere
 * the call is shown when it is made.
 */
export const createStreamedInputs = (): StreamedInputs => {
  const open = new Map<string, string>();
  let isFirstTurn = false;
  let round: number | undefined;

  const learn = (callId: string): void => {
    const number = idPattern.exec(callId)?.[1];
    if (number !== undefined) round = Math.max(round ?? 0, Number(number) + 1);
  };
  return {
    hear: (event) => {
      if (event.type === 'message-fate') isFirstTurn = event.fate.type === 'delivered' && event.turn === 1;
      if (event.type === 'joined') isFirstTurn = event.turn === 1;
      if (event.type === 'step-start' && event.iteration === 1 && isFirstTurn) round ??= 1;
      if ('callId' in event && event.callId !== undefined) learn(event.callId);
    },
    write: ({ index, tool, text }) => {
      if (round === undefined) return [];
      const toolCallId = `call_${round}_${index}`;
      const start: UIMessageChunk[] = open.has(toolCallId)
        ? []
        : [{ type: 'tool-input-start', toolCallId, toolName: tool }];
      open.set(toolCallId, tool);
      return text === '' ? start : [...start, { type: 'tool-input-delta', toolCallId, inputTextDelta: text }];
    },
    settle: (callId) => {
      open.delete(callId);
    },
    abandon: () => {
      const chunks = [...open].map(([toolCallId, toolName]): UIMessageChunk => ({
        type: 'tool-input-error',
        toolCallId,
        toolName,
        input: null,
        errorText: 'The call was not made.',
      }));
      open.clear();
      return chunks;
    },
    forget: () => open.clear(),
  };
};
