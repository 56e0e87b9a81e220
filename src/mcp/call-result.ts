import { canonicalJson } from '../messages/json.ts';
import { toContentParts } from '../tools/content-parts.ts';

/** What a server answers to a call, as far as it is read. */
export interface ServerResult {
  content: readonly object[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

/** Text, images, audio and embedded resources are content as they are; a link to a resource, or what else may come, is told as JSON. */
const partOf = (part: object): object =>
  toContentParts([part]) === undefined ? { type: 'text', text: JSON.stringify(part) } : part;

const textOf = (part: object): string | undefined =>
  'type' in part && part.type === 'text' && 'text' in part && typeof part.text === 'string' ? part.text : undefined;

/** Servers repeat their structured answer as text, for clients that know no other. */
const repeats = (text: string | undefined, structured: unknown): boolean => {
  if (text === undefined) return false;
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(structured);
  } catch {
    return false;
  }
};

/**
 * A server's answer as the result of our tool. The content is what the model reads; the structured answer is read where there is no
 * content, or where the content only repeats it. Nothing of it is followed: a link is told, not opened.
 */
export const callResult = ({ content, structuredContent, isError }: ServerResult): unknown => {
  const [first] = content;
  if (isError === true) {
    if (first !== undefined) return { content: content.map(partOf), isError };
    const words = structuredContent === undefined ? 'Error: the tool failed.' : JSON.stringify(structuredContent);
    return { content: [{ type: 'text', text: words }], isError };
  }
  const text = content.length === 1 && first !== undefined ? textOf(first) : undefined;
  if (structuredContent !== undefined && (first === undefined || repeats(text, structuredContent))) {
    return { content: [], structuredContent };
  }
  if (first === undefined) return undefined;
  return text ?? { content: content.map(partOf) };
};
