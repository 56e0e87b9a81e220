import type { Message, Part, ToolCallPart, ToolResultPart } from './message.ts';

/** One call of a history, with what was found for it. */
export interface PairedCall {
  part: ToolCallPart;
  /** Index of the assistant message that asked. */
  asked: number;
  /** `here`: the result stands in an assistant message and stays there; `elsewhere`: it has to be put in its place. */
  answer: 'none' | 'here' | 'elsewhere';
  /** With `elsewhere`: the result, and the index of the message that holds it. */
  found?: { result: ToolResultPart; at: number };
}

/** For one message: its calls in order, and for each part the call whose result it is and stays. */
export interface PairedMessage {
  calls: PairedCall[];
  staying: Map<number, PairedCall>;
}

const contentOf = (message: Message): readonly Part[] => (typeof message.content === 'string' ? [] : message.content);

/** The provider ran it, or the result stands in the same message: not ours to run (R9). */
export const isOwn = (call: PairedCall): boolean => call.part.providerExecuted !== true && call.answer !== 'here';

/**
 * Finds the result of each call in any list of messages: a result belongs to the last assistant message before it (or around it)
 * that asked under its id, there to the first call that has no result yet. What finds no call is left over.
 */
export const pairResults = (messages: readonly Message[]): PairedMessage[] => {
  const latest = new Map<string, PairedCall[]>();

  return messages.map((message, index) => {
    const calls: PairedCall[] = [];
    const staying = new Map<number, PairedCall>();
    for (const part of contentOf(message)) {
      if (part.type !== 'tool-call') continue;
      const call: PairedCall = { part, asked: index, answer: 'none' };
      calls.push(call);
      const known = latest.get(part.toolCallId);
      if (known?.[0]?.asked === index) known.push(call);
      else latest.set(part.toolCallId, [call]);
    }
    contentOf(message).forEach((part, position) => {
      if (part.type !== 'tool-result') return;
      const call = latest.get(part.toolCallId)?.find(({ answer }) => answer === 'none');
      if (call === undefined) return;
      const stays = message.role === 'assistant' && (call.asked === index || call.part.providerExecuted === true);
      if (stays) staying.set(position, call);
      else call.found = { result: part, at: index };
      call.answer = stays ? 'here' : 'elsewhere';
    });
    return { calls, staying };
  });
};
