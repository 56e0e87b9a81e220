import type { JsonObject } from '../../../messages/json.ts';
import type { FilePart, TextPart, ToolOutput } from '../../../messages/message.ts';
import { fileSource } from '../file-source.ts';
import { toolOutputFiles, toolOutputText } from '../tool-output.ts';
import { ownFields } from '../user-content.ts';

/** Images and documents by address or content, audio by content; `file_id` under the provider's own fields names an uploaded one. */
const filePart = (part: FilePart, provider: string): JsonObject => {
  const own = ownFields(part, provider);
  const { url, isImage, isLink, audio } = fileSource(part);
  if (isImage) {
    return {
      detail: 'auto',
      ...own,
      type: 'input_image',
      ...(own.file_id === undefined ? { image_url: url } : {}),
    };
  }
  if (own.file_id !== undefined) return { ...own, type: 'input_file' };
  if (audio !== undefined) return { type: 'input_audio', input_audio: { ...own, ...audio } };
  if (isLink) return { ...own, type: 'input_file', file_url: url };
  return { ...own, type: 'input_file', filename: part.filename ?? 'file', file_data: url };
};

const inputParts = (parts: readonly (TextPart | FilePart)[], provider: string): JsonObject[] =>
  parts.map((part) =>
    part.type === 'text'
      ? { ...ownFields(part, provider), type: 'input_text', text: part.text }
      : filePart(part, provider),
  );

/** One plain text goes as a string: not every server takes a list. */
export const inputContent = (
  content: string | readonly (TextPart | FilePart)[],
  provider: string,
): string | JsonObject[] => {
  if (typeof content === 'string') return content;
  const parts = inputParts(content, provider);
  const [first] = content;
  return content.length === 1 && first?.type === 'text' && Object.keys(parts[0] ?? {}).length === 2
    ? first.text
    : parts;
};

/** The output of a call: text, or a list where images and files are in it. */
export const callOutput = (output: ToolOutput, provider: string): string | JsonObject[] => {
  if (output.type !== 'content' || toolOutputFiles(output).length === 0) return toolOutputText(output);
  return inputParts(
    output.value.map((part) => (part.type === 'text' ? part : { ...part, type: 'file' as const })),
    provider,
  );
};
