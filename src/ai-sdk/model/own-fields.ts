import type { JsonObject, JsonValue } from '../../messages/json.ts';
import type { Message, Part, ProviderOptions } from '../../messages/message.ts';

/** Under this key of `providerOptions` we note what a message of ours has no place for. It goes to no provider. */
export const adapterKey = 'ai-sdk';

/**
 * What the notes say. `custom`: the part was a `custom` one of this kind. `reasoningFile`: it was a `reasoning-file`. `sources`, on a
 * message: what the model cited, for people.
 */
export interface AdapterNotes extends JsonObject {
  custom?: string;
  reasoningFile?: boolean;
  sources?: readonly JsonValue[];
}

export const withNotes = (options: ProviderOptions | undefined, notes: AdapterNotes): ProviderOptions => ({
  ...options,
  [adapterKey]: notes,
});

export const notesOf = (item: Message | Part): AdapterNotes => {
  const { custom, reasoningFile } = item.providerOptions?.[adapterKey] ?? {};
  return {
    ...(typeof custom === 'string' ? { custom } : {}),
    ...(reasoningFile === true ? { reasoningFile } : {}),
  };
};

/** What goes to the provider: all but our notes; `{}` where nothing is left. */
export const sentOptions = ({ providerOptions }: Message | Part): { providerOptions?: ProviderOptions } => {
  if (providerOptions === undefined) return {};
  const { [adapterKey]: _notes, ...sent } = providerOptions;
  return Object.keys(sent).length === 0 ? {} : { providerOptions: sent };
};
