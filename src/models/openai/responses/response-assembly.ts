import type { JsonObject } from '../../../messages/json.ts';
import { callsOf, type AssistantMessage } from '../../../messages/message.ts';
import type { FinishReason, ModelChunk, ModelReply } from '../../chat-model.ts';
import { ModelError } from '../../model-error.ts';
import { isJsonArray, isJsonObject } from '../json-value.ts';
import { brokenReply, errorInReply } from '../provider-error.ts';
import { readUsage } from '../token-usage.ts';
import type { ReplyAssembly } from '../wire-model.ts';
import { objectsIn, partsOfItem, refusalIn, textIn } from './incoming-items.ts';
import { createStreamedItem, isCallItem, textEvent, type StreamedItem } from './streamed-item.ts';

/** Asking again with the same content will not help. */
const refusingCode = /^(invalid_|image_|unsupported_|empty_image|failed_to_download_image)|_policy|data_residency/;

const failureOf = (given: JsonObject): ModelError | undefined => {
  const error = isJsonObject(given.error) ? given.error : undefined;
  if (error === undefined || !refusingCode.test(textIn(error.code))) return errorInReply(given);
  return errorInReply({ error: { ...error, type: 'invalid_request_error' } });
};

/** The error that a reply or an event holds: as an object under `error`, as the event itself, or in a response that failed. */
const errorIn = (data: JsonObject): ModelError | undefined => {
  if (data.type === 'error' && !isJsonObject(data.error)) {
    const { type: _event, sequence_number: _number, ...error } = data;
    return failureOf({ error });
  }
  if (data.type === 'response.failed') {
    const response = isJsonObject(data.response) ? data.response : {};
    return failureOf(response) ?? brokenReply('the response failed, and the server did not say why');
  }
  if (data.status === 'failed') return failureOf(data) ?? brokenReply('the response failed');
  return failureOf(data);
};

const finishOf = (response: JsonObject, message: AssistantMessage): FinishReason => {
  if (response.status === 'incomplete') {
    const reason = isJsonObject(response.incomplete_details) ? textIn(response.incomplete_details.reason) : '';
    if (reason === 'content_filter') return 'content-filter';
    return /^max_\w*tokens$/.test(reason) ? 'length' : 'other';
  }
  return callsOf(message).length > 0 ? 'tool-calls' : 'stop';
};

/** The reply that a response with these items is. */
const replyOf = (items: readonly JsonObject[], response: JsonObject, provider: string): ModelReply => {
  const { id, status, store, model } = response;
  if (status === 'queued' || status === 'in_progress' || status === 'cancelled') {
    const message = `the response is ${status}; replies in the background are not waited for`;
    throw new ModelError('model-request-failed', message, { transient: false });
  }
  const isKept = typeof id === 'string' && id !== '' && store !== false;
  const message: AssistantMessage = {
    role: 'assistant',
    content: items.flatMap((item, position) => partsOfItem(item, provider, position)),
    ...(isKept ? { providerOptions: { [provider]: { responseId: id } } } : {}),
  };
  const usage = readUsage(response.usage);
  const refusal = refusalIn(items);
  return {
    message,
    finishReason: finishOf(response, message),
    ...(refusal === '' ? {} : { refusal }),
    ...(usage === undefined ? {} : { usage }),
    ...(typeof model === 'string' && model !== '' ? { model } : {}),
  };
};

/**
 * Puts a response together from its events, or takes a whole one. The items come from `output_item.done`; the last event fills in what
 * was not sent so. A stream is whole with `response.completed` or `response.incomplete`, and left there.
 */
export const createResponseAssembly = (provider: string): ReplyAssembly => {
  // In the order in which they began, which is that of their numbers.
  const streamed = new Map<string, StreamedItem>();
  let head: JsonObject = {};
  let response: JsonObject | undefined;
  let calls = 0;
  let ordered: readonly StreamedItem[] | undefined;

  const open = (key: string, item: JsonObject): StreamedItem => {
    const known = streamed.get(key);
    if (known !== undefined) return known;
    const made = createStreamedItem(item, calls);
    if (isCallItem(item)) calls += 1;
    streamed.set(key, made);
    return made;
  };

  /** The number of the item in its reply, or its id on servers that do not count. */
  const keyOf = (event: JsonObject, item: JsonObject = {}): string =>
    typeof event.output_index === 'number' ? `#${event.output_index}` : textIn(event.item_id) || textIn(item.id);

  /** The items of the last event: of those streamed, the one with its id, or in its place; else one that was not shown before. */
  const addOutput = (output: readonly JsonObject[]): ModelChunk[] => {
    const seen = [...streamed.values()];
    const match = (item: JsonObject, position: number): StreamedItem | undefined => {
      const same = seen.find((each) => item.id !== undefined && each.item().id === item.id);
      const inPlace = seen.length === output.length ? seen[position] : undefined;
      if (same !== undefined || inPlace?.item().type === item.type) return same ?? inPlace;
      return seen.length < output.length ? open(`last:${position}`, item) : undefined;
    };
    const matched = output.map(match);
    const whole = new Set(matched.filter((each) => each !== undefined));
    if (whole.size === output.length && whole.size === streamed.size) ordered = [...whole];
    return matched.flatMap((each, position) => {
      const item = output[position];
      return each === undefined || item === undefined || each.isFinished() ? [] : each.finish(item);
    });
  };

  const end = (whole: JsonObject, status: string | undefined): ModelChunk[] => {
    const error = errorIn(whole);
    if (error !== undefined) throw error;
    const chunks = addOutput(objectsIn(whole.output));
    response = { ...head, ...(status === undefined ? {} : { status }), ...whole };
    return chunks;
  };

  const addEvent = (event: JsonObject): ModelChunk[] => {
    const item = isJsonObject(event.item) ? event.item : {};
    switch (event.type) {
      case 'response.output_item.added':
        open(keyOf(event, item), item);
        return [];
      case 'response.output_item.done':
        return open(keyOf(event, item), item).finish(item);
      case 'response.completed':
      case 'response.incomplete':
        return end(isJsonObject(event.response) ? event.response : {}, textIn(event.type).slice('response.'.length));
      default: {
        if (isJsonObject(event.response)) head = event.response;
        const text = textEvent(event);
        if (text === undefined) return [];
        const id = textIn(event.item_id);
        const known = open(keyOf(event), { type: text.itemType, ...(id === '' ? {} : { id }) });
        return text.isWhole ? known.complete(text) : known.add(text);
      }
    }
  };

  return {
    add: (data) => {
      const error = errorIn(data);
      if (error !== undefined) throw error;
      if (typeof data.type === 'string') return addEvent(data);
      if (isJsonArray(data.output)) return end(data, undefined);
      throw new ModelError('model-request-failed', 'the reply is not a response: it has no output', {
        transient: false,
      });
    },
    close: () => undefined,
    isComplete: () => response !== undefined,
    isOver: () => response !== undefined,
    reply: () =>
      replyOf(
        (ordered ?? [...streamed.values()]).map((each) => each.item()),
        response ?? head,
        provider,
      ),
  };
};
