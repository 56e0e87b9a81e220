import type { JsonObject } from '../../../messages/json.ts';
import type { ModelChunk } from '../../chat-model.ts';
import { isText, objectsIn, textIn, thoughtSeparator, thoughtsOf } from './incoming-items.ts';

type Kind = 'text' | 'refusal' | 'summary' | 'thought' | 'call';

/** One text of an item: which of its kind, and the text. */
interface ItemText {
  kind: Kind;
  index: number;
  text: string;
}

/** An item while it is streamed. */
export interface StreamedItem {
  /** One more piece of a text. */
  add(piece: ItemText): ModelChunk[];
  /** The whole text: what of it did not come in pieces is new. */
  complete(whole: ItemText): ModelChunk[];
  /** The whole item. It counts, whatever was streamed. */
  finish(item: JsonObject): ModelChunk[];
  isFinished(): boolean;
  /** As it was sent whole, else put together from its pieces. */
  item(): JsonObject;
}

/** Which text of which kind of item an event brings. */
const textKinds: ReadonlyMap<string, { kind: Kind; itemType: string; field: string }> = new Map([
  ['output_text', { kind: 'text', itemType: 'message', field: 'text' }],
  ['refusal', { kind: 'refusal', itemType: 'message', field: 'refusal' }],
  ['reasoning_summary_text', { kind: 'summary', itemType: 'reasoning', field: 'text' }],
  ['reasoning_text', { kind: 'thought', itemType: 'reasoning', field: 'text' }],
  ['function_call_arguments', { kind: 'call', itemType: 'function_call', field: 'arguments' }],
  ['custom_tool_call_input', { kind: 'call', itemType: 'custom_tool_call', field: 'input' }],
]);

/** The text that an event brings; `undefined` for one that brings none. `isWhole`: it repeats all of it. */
export const textEvent = (event: JsonObject): (ItemText & { itemType: string; isWhole: boolean }) | undefined => {
  const [, name = '', end] = /^response\.(\w+)\.(delta|done)$/.exec(textIn(event.type)) ?? [];
  const known = textKinds.get(name);
  if (known === undefined) return undefined;
  const isWhole = end === 'done';
  const index = event.content_index ?? event.summary_index;
  return {
    kind: known.kind,
    index: typeof index === 'number' ? index : 0,
    text: textIn(isWhole ? event[known.field] : event.delta),
    itemType: known.itemType,
    isWhole,
  };
};

const textsOf = (item: JsonObject): ItemText[] => {
  switch (item.type) {
    case 'message':
      return objectsIn(item.content).flatMap((entry, index): ItemText[] => {
        if (isText(entry)) return [{ kind: 'text', index, text: textIn(entry.text) }];
        return entry.type === 'refusal' ? [{ kind: 'refusal', index, text: textIn(entry.refusal) }] : [];
      });
    case 'reasoning': {
      const { kind, texts } = thoughtsOf(item);
      return texts.map((text, index) => ({ kind, index, text }));
    }
    case 'function_call':
      return [{ kind: 'call', index: 0, text: textIn(item.arguments) }];
    case 'custom_tool_call':
      return [{ kind: 'call', index: 0, text: textIn(item.input) }];
    default:
      return [];
  }
};

const withTexts = (item: JsonObject, texts: readonly ItemText[]): JsonObject => {
  const of = (kind: Kind): ItemText[] =>
    texts.filter((text) => text.kind === kind).toSorted((a, b) => a.index - b.index);
  const called = of('call')[0]?.text ?? '';
  switch (item.type) {
    case 'message': {
      const said = texts.toSorted((a, b) => a.index - b.index);
      const content = said.map(({ kind, text }) =>
        kind === 'refusal' ? { type: 'refusal', refusal: text } : { type: 'output_text', text },
      );
      return { ...item, content };
    }
    case 'reasoning': {
      const summary = of('summary').map(({ text }) => ({ type: 'summary_text', text }));
      const content = of('thought').map(({ text }) => ({ type: 'reasoning_text', text }));
      return { ...item, summary, ...(content.length === 0 ? {} : { content }) };
    }
    case 'function_call':
      return called === '' ? item : { ...item, arguments: called };
    case 'custom_tool_call':
      return called === '' ? item : { ...item, input: called };
    default:
      return item;
  }
};

export const isCallItem = (item: JsonObject): boolean =>
  item.type === 'function_call' || item.type === 'custom_tool_call';

/** `callIndex`: the how-manieth call of its reply it is, where it is one. */
export const createStreamedItem = (begun: JsonObject, callIndex: number): StreamedItem => {
  let item = begun;
  let finished = false;
  const texts = new Map<string, ItemText>();

  const add = ({ kind, index, text }: ItemText): ModelChunk[] => {
    const key = `${kind}:${index}`;
    const before = texts.get(key)?.text ?? '';
    const [shown] = [...texts.values()].filter((known) => known.text !== '');
    texts.set(key, { kind, index, text: before + text });
    if (text === '') return [];
    switch (kind) {
      case 'text':
        return [{ type: 'text-delta', text }];
      case 'summary':
      case 'thought':
        // A summary and the thoughts that it sums up are not shown one after the other.
        if (shown !== undefined && shown.kind !== kind) return [];
        return [{ type: 'reasoning-delta', text: before === '' && shown ? thoughtSeparator + text : text }];
      case 'call':
        return [{ type: 'tool-input-delta', index: callIndex, toolName: textIn(item.name), text }];
      case 'refusal':
        return [];
      default:
        return kind satisfies never;
    }
  };

  const complete = ({ kind, index, text }: ItemText): ModelChunk[] => {
    const before = texts.get(`${kind}:${index}`)?.text ?? '';
    return text.startsWith(before) ? add({ kind, index, text: text.slice(before.length) }) : [];
  };

  return {
    add,
    complete,
    finish: (whole) => {
      item = whole;
      finished = true;
      return textsOf(whole).flatMap(complete);
    },
    isFinished: () => finished,
    item: () => (finished ? item : withTexts(item, [...texts.values()])),
  };
};
