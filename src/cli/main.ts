import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { AgentError, errorData } from '../errors.ts';
import { exportSession, importSession } from '../sessions/transfer.ts';
import type { SessionStore } from '../stores/store.ts';
import { decideCall } from './decide-call.ts';
import { escapeText } from './escape-text.ts';
import { integerFlag, jsonFlag, memoryFlag, timeBefore } from './flags.ts';
import { inspect, inspectUsage } from './inspect.ts';
import { listSessions } from './list-sessions.ts';
import { openStore } from './open-store.ts';
import type { Output } from './output.ts';
import { nearest } from './nearest.ts';
import { loadAgent, runAgent } from './run-agent.ts';
import { showHistory, showSession } from './show-session.ts';
import { usage } from './usage.ts';
import { UsageError } from './usage-error.ts';

const options = {
  store: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  status: { type: 'string' },
  agent: { type: 'string' },
  limit: { type: 'string' },
  offset: { type: 'string' },
  at: { type: 'string' },
  after: { type: 'string' },
  input: { type: 'string' },
  output: { type: 'string' },
  reason: { type: 'string' },
  remember: { type: 'string' },
  by: { type: 'string' },
  session: { type: 'string' },
  as: { type: 'string' },
  'older-than': { type: 'string' },
  port: { type: 'string' },
  print: { type: 'boolean' },
} as const;

const parse = (args: string[]) => parseArgs({ args, options, allowPositionals: true });
type Flags = ReturnType<typeof parse>['values'];

/** The flags that each command takes. */
const taken: Readonly<Record<string, readonly (keyof typeof options)[]>> = {
  sessions: ['store', 'json', 'status', 'agent', 'limit', 'offset'],
  show: ['store', 'json', 'at'],
  history: ['store', 'json', 'after'],
  approve: ['store', 'json', 'input', 'remember', 'by'],
  reject: ['store', 'json', 'reason', 'remember', 'by'],
  respond: ['store', 'json', 'output', 'by'],
  run: ['store', 'json', 'session'],
  inspect: ['store', 'port', 'print'],
  export: ['store', 'json', 'at'],
  import: ['store', 'json', 'as'],
  delete: ['store', 'json', 'older-than'],
};

const named = (values: readonly string[], names: readonly string[], optional = 0): string[] => {
  const extra = values[names.length + optional];
  if (extra !== undefined) throw new UsageError(`There is no place for "${extra}".`);
  if (values.length < names.length) throw new UsageError(`Give <${names.slice(values.length).join('> <')}>.`);
  return [...values];
};

const decision = ({ by, remember, reason, input }: Flags) => ({
  ...(by === undefined ? {} : { by }),
  ...(remember === undefined ? {} : { remember: memoryFlag(remember) }),
  ...(reason === undefined ? {} : { reason }),
  ...(input === undefined ? {} : { input: jsonFlag('--input', input) }),
});

const commands: Readonly<Record<string, (store: SessionStore, given: string[], flags: Flags) => Promise<Output>>> = {
  sessions: (store, given, { status, agent, limit, offset }) => {
    named(given, []);
    return listSessions(store, {
      ...(status === undefined ? {} : { status }),
      ...(agent === undefined ? {} : { agent }),
      ...(limit === undefined ? {} : { limit: integerFlag('--limit', limit) }),
      ...(offset === undefined ? {} : { offset: integerFlag('--offset', offset) }),
    });
  },
  show: (store, given, { at }) => {
    const [session = ''] = named(given, ['session']);
    return showSession(store, session, at === undefined ? undefined : integerFlag('--at', at));
  },
  history: (store, given, { after }) => {
    const [session = ''] = named(given, ['session']);
    return showHistory(store, session, after === undefined ? undefined : integerFlag('--after', after));
  },
  approve: (store, given, flags) => {
    const [session = '', callId] = named(given, ['session'], 1);
    return decideCall(store, 'approval.granted', session, { callId, given: decision(flags) });
  },
  reject: (store, given, flags) => {
    const [session = '', callId] = named(given, ['session'], 1);
    return decideCall(store, 'approval.rejected', session, { callId, given: decision(flags) });
  },
  respond: (store, given, flags) => {
    const [session = '', callId] = named(given, ['session', 'call']);
    if (flags.output === undefined) throw new UsageError('Give the result as --output JSON.');
    return decideCall(store, 'call.result', session, {
      callId,
      given: decision(flags),
      output: jsonFlag('--output', flags.output),
    });
  },
  export: async (store, given, { at }) => {
    const [session = ''] = named(given, ['session']);
    const document = await exportSession(store, session, at === undefined ? {} : { at: integerFlag('--at', at) });
    return { json: document, text: JSON.stringify(document) };
  },
  import: async (store, given, flags) => {
    const [file = ''] = named(given, ['file']);
    const document = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
    const sessionId = await importSession(store, document, flags.as === undefined ? {} : { id: flags.as });
    return { json: { sessionId }, text: escapeText(`Session ${sessionId} is in the store.`) };
  },
  delete: async (store, given, flags) => {
    const age = flags['older-than'];
    if (age !== undefined) {
      named(given, []);
      const deleted = await store.deleteBefore(timeBefore(age, Date.now()));
      return { json: { deleted }, text: `${deleted} deleted.` };
    }
    const [session = ''] = named(given, ['session, or --older-than']);
    if (!(await store.delete(session)))
      throw new AgentError('unknown-session', `the store has no session ${JSON.stringify(session)}`);
    return { json: { deleted: 1 }, text: '1 deleted.' };
  },
};

const run = async (given: string[], flags: Flags): Promise<Output> => {
  const [module = '', message] = named(given, ['module'], 1);
  const place = flags.store ?? process.env['AGENTCHART_STORE'] ?? '';
  const store = flags.store === undefined && place === '' ? undefined : await openStore(place, { mayCreate: true });
  const loaded = await loadAgent(module, store, { mustTake: flags.store !== undefined });
  await using _agent = loaded.agent;
  return await runAgent(loaded, message, flags.session);
};

/** Throws for what is no command, and for a flag that it does not take. */
const checkCommand = (command: string | undefined, flags: Flags): void => {
  if (command === undefined) throw new UsageError(usage);
  const own = Object.hasOwn(taken, command) ? taken[command] : undefined;
  if (own === undefined) {
    const meant = nearest(command, Object.keys(taken));
    const hint = meant === undefined ? '' : ` Is it "${meant}"?`;
    throw new UsageError(`There is no command "${command}".${hint} \`agentchart --help\` lists them all.`);
  }
  const foreign = (Object.keys(flags) as (keyof typeof options)[]).find((flag) => !own.includes(flag));
  if (foreign !== undefined) throw new UsageError(`${command} takes no --${foreign}.`);
};

const outputOf = async (command: string, given: string[], flags: Flags): Promise<Output> => {
  if (command === 'run') return run(given, flags);
  const store = await openStore(flags.store, { mayCreate: command === 'import' });
  try {
    const carryOut = commands[command];
    if (carryOut === undefined) throw new UsageError(usage);
    return await carryOut(store, given, flags);
  } finally {
    await store.close();
  }
};

const carryOut = async (args: string[]): Promise<number> => {
  const { values: flags, positionals } = parse(args);
  const [command = '', ...given] = positionals;
  if (flags.help === true) {
    process.stdout.write(command === 'inspect' ? inspectUsage : usage);
    return 0;
  }
  checkCommand(positionals[0], flags);
  if (command === 'inspect') {
    const [place] = named(given, [], 1);
    const interrupted = new AbortController();
    process.once('SIGINT', () => interrupted.abort());
    process.once('SIGTERM', () => interrupted.abort());
    await inspect(place, flags, { signal: interrupted.signal });
    return 0;
  }
  const { text: said, json, exitCode = 0 } = await outputOf(command, given, flags);
  process.stdout.write(`${flags.json === true ? JSON.stringify(json) : said}\n`);
  return exitCode;
};

/** For people in words; with `--json` as `{ error: { name, message, code? } }` on one line. */
export const failureText = (error: unknown, isJson: boolean): string => {
  const { cause: _cause, ...told } = errorData(error);
  if (isJson) return JSON.stringify({ error: told });
  const code = error instanceof AgentError ? ` (${error.code})` : '';
  return `${escapeText(told.message).trimEnd()}${code}`;
};

/** Carries out one command line; gives the exit status. */
export const main = async (args: string[]): Promise<number> => {
  try {
    return await carryOut(args);
  } catch (error) {
    const { code = '' } = errorData(error);
    const isUsage = error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS');
    process.stderr.write(`${failureText(error, args.includes('--json'))}\n`);
    return isUsage ? 2 : 1;
  }
};
