import type * as ChildProcess from 'node:child_process';
import type * as FileSystem from 'node:fs';
import { AgentError } from '../errors.ts';
import { newId } from '../sessions/new-id.ts';
import { storeAt } from '../stores/store-at.ts';
import type { CrashEvent } from './crash-log.ts';
import type { CrashPoint } from './crash-point.ts';
import { type ChoosePoints, type CrashReport, tryEverywhere } from './crash-report.ts';
import { type CrashScenario, type Lived, checkScenario, live } from './crash-scenario.ts';
import type { KilledLife } from './killed-life.ts';

export interface KillEverywhereOptions {
  /** Of the SQLite file. */
  path: string;
  points?: ChoosePoints;
  /** Flags of Node for the processes that are killed. Default: those of this one. */
  execArgv?: readonly string[];
}

interface Host {
  process: NodeJS.Process;
  spawn: typeof ChildProcess.spawn;
  files: typeof FileSystem;
  pathOf(url: URL): string;
}

/** Asked of the process, not imported: whoever tests in a browser with the other things of this folder needs none of it. */
const hostOf = (): Host => {
  const host = (globalThis as { process?: NodeJS.Process }).process;
  if (host === undefined) throw new AgentError('invalid-option', 'killEverywhere needs Node: it starts processes');
  return {
    process: host,
    spawn: host.getBuiltinModule('node:child_process').spawn,
    files: host.getBuiltinModule('node:fs'),
    pathOf: host.getBuiltinModule('node:url').fileURLToPath,
  };
};

/** Runs a life in a process of its own: true where it was killed, false where it came to its end. */
const killed = ({ process: host, spawn, pathOf }: Host, life: KilledLife, flags: readonly string[]): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const name = import.meta.url.endsWith('.ts') ? './killed-life.ts' : './killed-life.js';
    const file = pathOf(new URL(name, import.meta.url));
    const child = spawn(host.execPath, [...flags, file, JSON.stringify(life)], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.once('error', reject).once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(true);
      else if (code === 0) resolve(false);
      else reject(new Error(`the process ended with ${signal ?? code}:\n${said}`));
    });
  });

/**
 * As `crashEverywhere`, but the process that has the session is really killed, on an SQLite file: it sends itself SIGKILL at the point.
 * The module exports the scenario as `scenario`. What it keeps outside of the session has to be kept in files as well. Each point
 * starts a process; the session goes on in this one. Needs Node.
 */
export const killEverywhere = async (module: URL, options: KillEverywhereOptions): Promise<CrashReport> => {
  const host = hostOf();
  const { path, points = () => true, execArgv = host.process.execArgv } = options;
  const { scenario } = (await import(module.href)) as { scenario?: CrashScenario };
  if (scenario === undefined)
    throw new AgentError('invalid-option', `killEverywhere: ${module.href} has no export "scenario"`);
  checkScenario(scenario, 'killEverywhere');
  const open = () => storeAt(path);

  return tryEverywhere(() => {
    const sessionId = `session-${newId()}`;
    const events: CrashEvent[] = [];
    const log = `${path}-${sessionId}.log`;
    const lifeHere = async (name: string): Promise<Lived> => {
      const store = open();
      try {
        return await live(scenario, {
          store,
          sessionId,
          name,
          log: (event) => void events.push(event),
          die: () => undefined,
        });
      } finally {
        await store.close();
      }
    };
    const lifeThere = async (crashAt: CrashPoint): Promise<Lived> => {
      host.files.writeFileSync(log, '');
      try {
        const isDead = await killed(host, { scenario: module.href, path, sessionId, log, crashAt }, execArgv);
        const lines = host.files.readFileSync(log, 'utf8').trim();
        if (lines !== '') events.push(...(JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as CrashEvent[]));
        return isDead
          ? { end: undefined, counts: { commit: 0, 'model call': 0, 'tool run': 0 } }
          : await lifeHere('second');
      } finally {
        host.files.rmSync(log);
      }
    };
    return {
      sessionId,
      events,
      open,
      first: (point) => (point === undefined ? lifeHere('first') : lifeThere(point)),
      second: () => lifeHere('second'),
    };
  }, points);
};
