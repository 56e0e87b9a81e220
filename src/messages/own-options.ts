import type { JsonObject } from './json.ts';
import type { Message, Part, ProviderOptions, ToolCallPart } from './message.ts';

/** The key under `providerOptions` that is ours: kept in the session, never sent. */
export const ownKey = 'agentchart';

/** What we note on a call: the id that the provider gave it, and what the model asked where a human edited `input`. */
export interface OwnOptions extends JsonObject {
  providerCallId?: string;
  originalInput?: JsonObject[string];
}

/** The provider's own id of a call; `undefined` where it gave none. */
export const providerCallIdOf = (part: ToolCallPart): string | undefined => {
  const id = part.providerOptions?.[ownKey]?.providerCallId;
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/** A copy of the part with our notes merged in; the notes that it has already stay. */
export const withOwnOptions = (part: ToolCallPart, notes: OwnOptions): ToolCallPart => ({
  ...part,
  providerOptions: { ...part.providerOptions, [ownKey]: { ...part.providerOptions?.[ownKey], ...notes } },
});

/** True where something under `providerOptions` is for a provider. */
const hasForeignOptions = (options: ProviderOptions | undefined): boolean =>
  options !== undefined && Object.keys(options).some((key) => key !== ownKey);

/** The same message or part without our key; the same object where it has none. */
export const withoutOwnOptions = <T extends Message | Part>(item: T): T => {
  const { providerOptions } = item;
  if (providerOptions === undefined) return item;
  if (hasForeignOptions(providerOptions)) {
    if (!Object.hasOwn(providerOptions, ownKey)) return item;
    const { [ownKey]: _ours, ...foreign } = providerOptions;
    return { ...item, providerOptions: foreign };
  }
  const { providerOptions: _ours, ...bare } = item;
  // What is left of a message or part without its options is one.
  return bare as T;
};

/** Says nothing to anybody: empty text without a field for a provider (an empty text may carry a thought signature). */
export const isEmptyPart = (part: Part): boolean =>
  (part.type === 'text' || part.type === 'reasoning') && part.text === '' && !hasForeignOptions(part.providerOptions);

/** A message that strict providers refuse, since nothing is in it. */
export const isEmptyMessage = (message: Message): boolean =>
  typeof message.content === 'string' ? message.content === '' : message.content.every(isEmptyPart);
