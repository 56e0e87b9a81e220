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

/** An agent to run, and what a caller is told who wants its sessions kept and has given no store. */
export interface LoadedAgent {
  agent: Agent;
  howToKeep: string;
}

/** The agent of a module, over a store where one is given that it takes. A store that had to be taken is refused by a module that cannot. */
export const loadAgent = async (
  path: string,
  store: SessionStore | undefined,
  { mustTake }: { mustTake: boolean },
): Promise<LoadedAgent> => {
  const { default: found } = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown };
  const isMaker = typeof found === 'function';
  const made: unknown = isMaker
    ? await (found as (given: { store?: SessionStore }) => unknown)(store === undefined ? {} : { store })
    : found;
  if (!isAgent(made))
    throw new UsageError(`${path} must export an agent as default, or a function ({ store }) => agent.`);
  if (mustTake && !isMaker)
    throw new UsageError(
      `${path} exports an agent that is made already, so that it cannot take the store of --store; export a function ({ store }) => agent that gives it to createAgent.`,
    );
  if (!isMaker)
    return { agent: made, howToKeep: 'give the agent a store, or export ({ store }) => agent and use --store' };
  const howToKeep =
    store === undefined
      ? 'use --store <SQLite file or postgres://…>'
      : `${path} has to give its agent the { store } that it gets`;
  return { agent: made, howToKeep };
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

/** The document has a revision where it stands in a store that outlives the process. One that broke has been in such a store. */
const isKept = (session: Session): boolean => {
  try {
    return session.toJSON().revision !== undefined;
  } catch {
    return true;
  }
};

/** Runs a turn, or goes on with the session where there is no message. Exit status 0 answered, 3 pending, 1 all else. */
export const runAgent = async (
  { agent, howToKeep }: LoadedAgent,
  message: string | undefined,
  sessionId: string | undefined,
): Promise<Output> => {
  if (message === undefined && sessionId === undefined)
    throw new UsageError('Give a message, or --session to go on with one.');
  await using session = await agent.open(sessionId);
  const place = (): string =>
    isKept(session) ? `session ${session.id}` : `session ${session.id} is kept nowhere; to keep sessions, ${howToKeep}`;
  // What was done is stored already; a second Ctrl-C ends the process as usual.
  process.once('SIGINT', () => {
    const leave = (): void => {
      const how = isKept(session) ? `Go on with: agentchart run <module> --session ${session.id}` : place();
      process.stderr.write(`\n${escapeText(how)}\n`);
      process.exit(130);
    };
    void agent.close().finally(leave);
  });
  try {
    const result = message === undefined ? await session.settled() : await agent.run(message, { session });
    const refused = await refusalsOf(session);
    const waits = result.pending.map(({ callId, tool, input }) => `waits: ${callId}  ${tool} ${JSON.stringify(input)}`);
    const said = result.text === '' ? [`(${result.outcome.type})`] : [result.text];
    return {
      json: { ...result, refused, isKept: isKept(session) },
      text: escapeText([...said, ...waits, ...refused.map(refusalLine), place()].join('\n')),
      exitCode: exitCodes[result.outcome.type] ?? 1,
    };
  } catch (error) {
    if (!(error instanceof TurnError)) throw error;
    const refused = await refusalsOf(session);
    const said = [`${error.message} (${error.code})`, ...refused.map(refusalLine), place()];
    const json = { ...error.toJSON(), refused, isKept: isKept(session) };
    return { json, text: escapeText(said.join('\n')), exitCode: 1 };
  }
};
