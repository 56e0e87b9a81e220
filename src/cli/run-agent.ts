import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent } from '../sessions/agent.ts';
import type { ErrorData } from '../errors.ts';
import type { RunResult, Session } from '../sessions/session.ts';
import { TurnError } from '../sessions/turn-error.ts';
import type { SessionStore } from '../stores/store.ts';
import { escapeText } from './escape-text.ts';
import type { Output } from './output.ts';
import { UsageError } from './usage-error.ts';

/** What the module of an agent exports as `default`: the agent, or how to make it over a store. */
export type AgentModule = Agent | ((given: { store?: SessionStore }) => Agent | Promise<Agent>);

const isAgent = (value: unknown): value is Agent =>
  typeof value === 'object' && value !== null && 'run' in value && 'open' in value;

export const loadAgent = async (path: string, store: SessionStore | undefined): Promise<Agent> => {
  const { default: found } = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown };
  const made: unknown =
    typeof found === 'function'
      ? await (found as (given: { store?: SessionStore }) => unknown)(store === undefined ? {} : { store })
      : found;
  if (!isAgent(made))
    throw new UsageError(`${path} must export an agent as default, or a function ({ store }) => agent.`);
  if (store !== undefined && typeof found !== 'function')
    throw new UsageError(
      `${path} exports an agent with a store of its own; export a function ({ store }) => agent to use --store.`,
    );
  return made;
};

const exitCodes: Partial<Record<RunResult['outcome']['type'], number>> = { answered: 0, pending: 3 };

interface RefusedHere {
  /** Of the command, as its store numbers it. */
  command: number;
  error: ErrorData;
}

/** The commands of others that the session refused while it was open here. Asked for at the end: whoever reads along has the model stream. */
const refusalsOf = async (session: Session): Promise<RefusedHere[]> => {
  await session[Symbol.asyncDispose]();
  const refused: RefusedHere[] = [];
  for await (const event of session.events())
    if (event.type === 'error' && event.command !== undefined)
      refused.push({ command: event.command, error: event.error });
  return refused;
};

const refusalLine = ({ command, error }: RefusedHere): string =>
  `refused: command #${command}: ${error.message} (${error.code ?? error.name})`;

/** Runs a turn, or goes on with the session where there is no message. Exit status 0 answered, 3 pending, 1 all else. */
export const runAgent = async (
  agent: Agent,
  message: string | undefined,
  sessionId: string | undefined,
): Promise<Output> => {
  if (message === undefined && sessionId === undefined)
    throw new UsageError('Give a message, or --session to go on with one.');
  await using session = await agent.open(sessionId);
  // What was done is stored already; a second Ctrl-C ends the process as usual.
  process.once('SIGINT', () => {
    process.stderr.write(`\nGo on with: agentchart run <module> --session ${escapeText(session.id)}\n`);
    void agent.close().finally(() => process.exit(130));
  });
  try {
    const result = message === undefined ? await session.settled() : await agent.run(message, { session });
    const refused = await refusalsOf(session);
    const waits = result.pending.map(({ callId, tool, input }) => `waits: ${callId}  ${tool} ${JSON.stringify(input)}`);
    const said = result.text === '' ? [`(${result.outcome.type})`] : [result.text];
    return {
      json: { ...result, refused },
      text: escapeText([...said, ...waits, ...refused.map(refusalLine), `session ${session.id}`].join('\n')),
      exitCode: exitCodes[result.outcome.type] ?? 1,
    };
  } catch (error) {
    if (!(error instanceof TurnError)) throw error;
    const refused = await refusalsOf(session);
    const said = [`${error.message} (${error.code})`, ...refused.map(refusalLine), `session ${session.id}`];
    return { json: { ...error.toJSON(), refused }, text: escapeText(said.join('\n')), exitCode: 1 };
  }
};
