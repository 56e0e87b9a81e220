import type { AssistantMessage, Message, ToolCallPart, ToolResultPart } from '../../messages/message.ts';
import { partsOf } from '../../messages/message.ts';
import type { Session } from '../../sessions/session.ts';
import { turnUnderWay } from '../../sessions/turn-under-way.ts';
import { fileUrl } from './file-url.ts';
import { outputChunk } from './tool-output-chunk.ts';
import type { UIMessage, UIPart } from './ui-types.ts';

/** The id of the UI message of a turn's answer: the same in a stream and in what is loaded, so that one takes the place of the other. */
export const turnMessageId = (turn: number): string => `turn-${turn}`;

const statusOf = ({ providerOptions }: ToolResultPart): unknown => providerOptions?.['agentchart']?.['status'];

const settledCall = (
  { toolCallId, toolName, input, providerExecuted }: ToolCallPart,
  result: ToolResultPart | undefined,
): UIPart => {
  const theirs = providerExecuted === true ? { providerExecuted } : {};
  const call = { type: `tool-${toolName}` as const, toolCallId, input, ...theirs };
  if (result === undefined) return { ...call, state: 'input-available' };
  const status = statusOf(result);
  if (status === 'rejected') return { ...call, state: 'output-denied', approval: { id: toolCallId, approved: false } };
  const end = outputChunk(toolCallId, { status: status === undefined ? 'ok' : 'failed', output: result.output });
  if (end.type === 'tool-output-error') return { ...call, state: 'output-error', errorText: end.errorText };
  return { ...call, state: 'output-available', output: end.output };
};

/** One reply of the model as a step. Results stand in the message itself where the provider ran the call, else in the next one. */
const stepParts = (reply: AssistantMessage, next: Message | undefined): UIPart[] => {
  const results = [reply, ...(next?.role === 'tool' ? [next] : [])].flatMap((message) => partsOf(message));
  const resultOf = (id: string): ToolResultPart | undefined =>
    results.find((part): part is ToolResultPart => part.type === 'tool-result' && part.toolCallId === id);
  return [
    { type: 'step-start' },
    ...partsOf(reply).flatMap((part): UIPart[] => {
      switch (part.type) {
        case 'text':
        case 'reasoning':
          return part.text === '' ? [] : [{ type: part.type, text: part.text, state: 'done' }];
        case 'file':
          return [{ type: 'file', mediaType: part.mediaType, url: fileUrl(part) }];
        case 'tool-call':
          return [settledCall(part, resultOf(part.toolCallId))];
        case 'tool-result':
          return [];
        default:
          return part satisfies never;
      }
    }),
  ];
};

const saidBy = (message: Message, id: string): UIMessage[] => {
  if (message.role !== 'user') return [];
  const parts = partsOf(message).flatMap((part): UIPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'file') return [];
    const name = part.filename === undefined ? {} : { filename: part.filename };
    return [{ type: 'file', mediaType: part.mediaType, url: fileUrl(part), ...name }];
  });
  return [{ id, role: 'user', parts }];
};

/**
 * A session's history for a page: `messages` of `useChat`. The answer of a turn that is not over is not in it: the page gets that by joining
 * the turn's stream (`resume` of `useChat`), in a message whose id is `turnMessageId`. System messages are not shown.
 */
export const toUIMessages = (session: Session): UIMessage[] => {
  const { messages, status } = session;
  const turn = turnUnderWay(session);
  const shown: UIMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const isOfTurn = index >= turn.firstMessage && turn.number > 0;
    shown.push(...saidBy(message, `message-${index}`));
    if (message.role !== 'assistant' || (isOfTurn && status !== 'settled' && status !== 'closed')) continue;
    const parts = stepParts(message, messages[index + 1]);
    const last = shown.at(-1);
    const id = isOfTurn ? turnMessageId(turn.number) : `message-${index}`;
    if (last?.role === 'assistant' && (last.id === id || !isOfTurn)) last.parts.push(...parts);
    else shown.push({ id, role: 'assistant', parts });
  }
  return shown;
};
