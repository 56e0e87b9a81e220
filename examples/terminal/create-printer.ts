import { styleText } from 'node:util';
import { escapeJson, escapeText } from './escape-text.ts';
import type { AgentEvent } from 'agentchart';

type Result = Extract<AgentEvent, { type: 'tool-result' }>['result'];

const resultText = ({ status, output }: Result): string => {
  const value = 'value' in output ? output.value : output.reason;
  const text = typeof value === 'string' ? escapeText(value) : escapeJson(value);
  return `${styleText(status === 'ok' ? 'green' : 'red', status)} ${text}`;
};

const isPassing = (state: string): boolean => state === 'thinking.deciding';

/** Shows the events of a session: states and calls on lines of their own, the model's text as it comes. */
export const createPrinter = (write = (text: string): unknown => process.stdout.write(text)) => {
  const start = performance.now();
  let isInText = false;

  const endText = (): void => {
    if (isInText) write('\n\n');
    isInText = false;
  };
  const line = (text: string): void => {
    endText();
    const seconds = ((performance.now() - start) / 1000).toFixed(2).padStart(6);
    write(`${styleText('dim', `${seconds}s`)}  ${text}\n`);
  };
  const stream = (text: string): void => {
    if (!isInText) write(`\n${styleText('bold', 'Agent:')} `);
    isInText = true;
    write(text);
  };

  const event = (event: AgentEvent): void => {
    switch (event.type) {
      case 'transition':
        if (!isPassing(event.to)) line(styleText('cyan', `● ${event.to}`));
        return;
      case 'text-delta':
        stream(escapeText(event.text));
        return;
      case 'reasoning-delta':
        stream(styleText('dim', escapeText(event.text)));
        return;
      case 'tool-call':
        line(`→ ${styleText('bold', escapeText(event.tool))} ${escapeJson(event.input)}`);
        return;
      case 'tool-result':
        line(`← ${styleText('bold', escapeText(event.tool))} ${resultText(event.result)}`);
        return;
      case 'tool-progress':
        line(`… ${escapeText(event.tool)} ${escapeJson(event.value)}`);
        return;
      case 'approval-response':
        line(`✓ ${event.decision}${event.reason === undefined ? '' : `: ${escapeText(event.reason)}`}`);
        return;
      case 'error':
        line(styleText('red', `${escapeText(event.error.message)}${event.retryAt ? ' (trying again)' : ''}`));
        return;
      default:
        // The rest repeats what is on screen already, or counts.
        return;
    }
  };
  return { event, line, endText };
};
