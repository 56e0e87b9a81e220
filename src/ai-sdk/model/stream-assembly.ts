import type { ModelChunk, ModelReply } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { streamedFailure } from './provider-error.ts';
import type { Content, ProviderMetadata, StreamPart } from './provider-types.ts';
import { replyOf } from './reply.ts';

interface Block {
  type: 'text' | 'reasoning';
  text: string;
  providerMetadata?: ProviderMetadata;
}

export interface StreamAssembly {
  /** What is to be shown of this piece. Throws for a piece that is an error. */
  add(part: StreamPart): ModelChunk[];
  /** The whole reply. Throws `model-stream-broken` where the stream ended without a finish. */
  reply(): ModelReply;
}

/** A piece without text says nothing; it is not the word "undefined". */
const textIn = ({ delta = '' }: { delta?: string }): string => delta;

/** Puts a streamed reply together: pieces by id, parts in the order in which they began. */
export const createStreamAssembly = (): StreamAssembly => {
  const content: Content[] = [];
  const blocks = new Map<string, Block>();
  /** Our calls by the provider's id. Calls that the provider runs itself have no index. */
  const calls = new Map<string, { index: number; toolName: string; shown: boolean }>();
  let finish: Extract<StreamPart, { type: 'finish' }> | undefined;
  let model: string | undefined;

  const blockOf = (type: Block['type'], id: string): Block => {
    const known = blocks.get(`${type} ${id}`);
    if (known !== undefined) return known;
    const block: Block = { type, text: '' };
    blocks.set(`${type} ${id}`, block);
    content.push(block);
    return block;
  };
  const note = (type: Block['type'], part: { id: string; providerMetadata?: ProviderMetadata }): Block => {
    const block = blockOf(type, part.id);
    // Of several the last one counts: signatures come at the end of a block.
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    return block;
  };
  const callOf = (id: string, toolName: string) => {
    const known = calls.get(id) ?? { index: calls.size, toolName, shown: false };
    calls.set(id, known);
    return known;
  };
  const inputDelta = (id: string, text: string): ModelChunk[] => {
    const call = calls.get(id);
    if (call === undefined) return [];
    call.shown = true;
    return [{ type: 'tool-input-delta', index: call.index, toolName: call.toolName, text }];
  };
  const addCall = (part: Extract<StreamPart, { type: 'tool-call' }>): ModelChunk[] => {
    content.push(part);
    if (part.providerExecuted === true) return [];
    const { shown } = callOf(part.toolCallId, part.toolName);
    return shown ? [] : inputDelta(part.toolCallId, part.input);
  };

  return {
    add: (part) => {
      switch (part.type) {
        case 'text-start':
        case 'text-end':
          note('text', part);
          return [];
        case 'reasoning-start':
        case 'reasoning-end':
          note('reasoning', part);
          return [];
        case 'text-delta':
          note('text', part).text += textIn(part);
          return [{ type: 'text-delta', text: textIn(part) }];
        case 'reasoning-delta':
          note('reasoning', part).text += textIn(part);
          return [{ type: 'reasoning-delta', text: textIn(part) }];
        case 'tool-input-start':
          // Input that is not JSON is shown when the call is whole.
          if (part.providerExecuted !== true && part.inputEncoding !== 'text') callOf(part.id, part.toolName);
          return [];
        case 'tool-input-delta':
          return inputDelta(part.id, part.delta);
        case 'tool-call':
          return addCall(part);
        case 'tool-result':
        case 'tool-approval-request':
        case 'custom':
        case 'file':
        case 'reasoning-file':
        case 'source':
          content.push(part);
          return [];
        case 'response-metadata':
          model = part.modelId ?? model;
          return [];
        case 'finish':
          finish = part;
          return [];
        case 'error':
          throw streamedFailure(part.error);
        case 'tool-input-end':
        case 'stream-start':
        case 'ping':
        case 'raw':
          return [];
        default:
          // A piece of a kind that a later provider knows is not an error.
          part satisfies never;
          return [];
      }
    },
    reply: () => {
      if (finish === undefined) {
        throw new ModelError('model-stream-broken', 'the stream ended before the model had finished', {
          transient: true,
        });
      }
      return replyOf({ content, finishReason: finish.finishReason, usage: finish.usage, model });
    },
  };
};
