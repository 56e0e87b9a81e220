import { AgentError } from '../errors.ts';
import { contextIn, exportSession } from '../sessions/transfer.ts';
import { statePath } from '../machines/state-path.ts';
import { pendingOf } from '../machines/round.ts';
import { resultOf } from '../machines/turn-result.ts';
import { type Message, partsOf } from '../messages/message.ts';
import type { PendingCall } from '../tools/call.ts';
import type { SessionStore } from '../stores/store.ts';
import { commandText, numbered, refusalText } from './command-text.ts';
import { escapeLine, escapeText } from './escape-text.ts';
import { type Output, table, timeText } from './output.ts';
import { stepText } from './step-text.ts';

const json = (value: unknown): string => JSON.stringify(value) ?? 'null';

const lineOf = (message: Message): string[] =>
  typeof message.content === 'string'
    ? [`${message.role}: ${message.content}`]
    : partsOf(message).map((part) => {
        switch (part.type) {
          case 'text':
            return `${message.role}: ${part.text}`;
          case 'reasoning':
            return `${message.role} (reasoning): ${part.text}`;
          case 'tool-call':
            return `${message.role} calls ${part.toolName} ${json(part.input)} [${part.toolCallId}]`;
          case 'tool-result':
            return `${part.toolName}: ${json(part.output.type === 'execution-denied' ? part.output : part.output.value)} [${part.toolCallId}]`;
          default:
            return `${message.role}: a ${part.type}`;
        }
      });

const pendingLine = ({ callId, tool, input, needs, reason, expiresAt }: PendingCall): string =>
  [
    `  ${callId}  ${tool} ${json(input)}`,
    needs === 'approval' ? 'needs a decision' : 'needs a result',
    reason === undefined ? '' : `(${reason})`,
    expiresAt === undefined ? '' : `until ${timeText(expiresAt)} UTC`,
  ]
    .filter(Boolean)
    .join('  ');

const part = (head: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : ['', head, ...lines]);

/** One session: where it is, what was said, and what waits; as it is now also what others have left for it, and what it refused. */
export const showSession = async (store: SessionStore, sessionId: string, at: number | undefined): Promise<Output> => {
  const document = await exportSession(store, sessionId, at === undefined ? {} : { at });
  const inbox = at === undefined ? await store.inbox(sessionId) : [];
  const refused = at === undefined ? await store.refusals(sessionId) : [];
  const context = contextIn(document);
  const state = statePath(document.state.state);
  const pending = pendingOf(context);
  const { outcome, usage, text } = resultOf(context);
  const { agent, revision, createdAt, messages } = document;
  const lines = [
    `session   ${sessionId}`,
    `agent     ${agent}`,
    `state     ${state}`,
    `revision  ${revision ?? 1}, begun ${timeText(createdAt)} UTC`,
    `turn      ${context.turn.number}: ${context.turn.number === 0 ? 'none yet' : outcome.type}${outcome.type === 'failed' ? ` (${outcome.code}: ${outcome.error.message})` : ''}`,
    `tokens    ${context.usage.totalTokens ?? 'not counted'}`,
    '',
    ...messages.flatMap(lineOf),
    ...part('Waiting:', pending.map(pendingLine)),
    ...part(
      'In the inbox, for the next one that takes them up:',
      inbox.map((command) => numbered(command, commandText(command.event))),
    ),
    ...part(
      'Refused:',
      refused.map((command) => numbered(command, refusalText(command))),
    ),
  ];
  return {
    json: { sessionId, agent, state, revision, createdAt, outcome, text, usage, pending, messages, inbox, refused },
    text: escapeText(lines.join('\n')),
  };
};

/** The transitions of a session, for people in words. */
export const showHistory = async (
  store: SessionStore,
  sessionId: string,
  after: number | undefined,
): Promise<Output> => {
  const entries = await store.history(sessionId, after === undefined ? {} : { after });
  if (entries.length === 0 && (await store.read(sessionId)) === undefined)
    throw new AgentError('unknown-session', `the store has no session ${JSON.stringify(sessionId)}`);
  const rows = entries.map((entry) => [
    String(entry.revision),
    timeText(entry.at),
    escapeLine(`${entry.from} → ${entry.to}`),
    escapeLine(stepText(entry)),
  ]);
  return { json: entries, text: table(['REVISION', 'AT (UTC)', 'STEP', 'WHAT HAPPENED'], rows) };
};
