import type { AgentEvent } from '../../src/sessions/agent-event.ts';

/** The model's words and what became of calls, as lines; deltas that follow each other are one line. */
export const told = (events: readonly AgentEvent[]): string[] => {
  const lines: { key: string; line: string }[] = [];
  const say = (key: string, line: string): void => {
    const last = lines.at(-1);
    if (key !== '' && last?.key === key) last.line += line;
    else lines.push({ key, line: key + line });
  };
  for (const event of events) {
    switch (event.type) {
      case 'text-delta':
        say('text: ', event.text);
        break;
      case 'reasoning-delta':
        say('reasoning: ', event.text);
        break;
      case 'step-start':
      case 'step-finish':
        say('', `${event.type} ${event.iteration}`);
        break;
      case 'tool-call':
        say('', `${event.callId} ${event.tool} ${JSON.stringify(event.input)}`);
        break;
      case 'approval-request':
        say('', `${event.callId} asks ${event.waiting.inputHash}`);
        break;
      case 'approval-response':
        say('', `${event.callId} ${event.decision} by ${event.by}: ${event.reason}`);
        break;
      case 'tool-result':
        say('', `${event.callId} ${event.result.status} ${JSON.stringify([event.result.output, event.result.edited])}`);
        break;
      case 'finish':
        if (event.result.outcome.type !== 'pending') say('', `finish ${event.turn} ${event.result.outcome.type}`);
        break;
      default:
    }
  }
  return lines.map(({ line }) => line);
};
