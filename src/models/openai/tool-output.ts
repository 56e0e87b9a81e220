import type { FilePart, ToolOutput } from '../../messages/message.ts';

/** The text of a tool's result, as a tool message holds it. */
export const toolOutputText = (output: ToolOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return ['Tool call invocation rejected.', output.reason].filter(Boolean).join(' ');
    case 'content': {
      const texts = output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      const files = output.value.length - texts.length;
      return [...texts, ...(files > 0 ? [`(${files} file(s) of this result follow in the next message)`] : [])].join(
        '\n',
      );
    }
    default:
      return output satisfies never;
  }
};

/** The images and files of a tool's result: a tool message of Chat Completions cannot hold them. */
export const toolOutputFiles = (output: ToolOutput): FilePart[] =>
  output.type === 'content'
    ? output.value.flatMap((part) => (part.type === 'text' ? [] : [{ ...part, type: 'file' as const }]))
    : [];
