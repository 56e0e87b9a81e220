/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from '../escape-control.ts';

const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Data as coloured text: text nodes only, whatever is in it. */
const colored = (text: string): ComponentChildren[] => {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const match of text.matchAll(tokens)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    const [whole, quoted, colon, word] = match;
    const kind =
      quoted === undefined ? (word === undefined ? 'number' : 'word') : colon === undefined ? 'string' : 'key';
    parts.push(<span class={`json-${kind}`}>{colon === undefined ? whole : quoted}</span>);
    if (colon !== undefined) parts.push(colon);
    at = match.index + whole.length;
  }
  parts.push(text.slice(at));
  return parts;
};

const short = 1_500;
const lineWidth = 56;

/** On one line where it is short. */
const jsonOf = (value: unknown, inline: boolean): string => {
  const tall = JSON.stringify(value, undefined, 2) ?? '';
  if (!inline && tall.length > lineWidth * 1.5) return tall;
  const line = tall.replaceAll(/\n\s*/g, ' ');
  return inline || line.length <= lineWidth ? line : tall;
};

/** A value as JSON, or a text as it is; a long one opens on demand. */
export const JsonText = ({ value, inline = false }: { value: unknown; inline?: boolean }) => {
  const [isOpen, setOpen] = useState(false);
  const isText = typeof value === 'string';
  const text = visible(isText ? value : jsonOf(value, inline));
  const isLong = text.length > short;
  const shown = isLong && !isOpen ? text.slice(0, short) : text.slice(0, 200_000);
  return (
    <div class={inline ? 'json inline' : 'json'}>
      <pre>{isText ? shown : colored(shown)}</pre>
      {isLong && (
        <button type="button" class="link" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : `Show all ${text.length.toLocaleString('en-US')} characters`}
        </button>
      )}
    </div>
  );
};
