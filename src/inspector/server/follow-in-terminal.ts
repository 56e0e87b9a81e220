import { createInterface } from 'node:readline/promises';
import { type Approval, approvalsOf, waitingIn } from '../approvals.ts';
import type { Command } from '../command.ts';
import type { EventLog } from '../event-log.ts';
import type { InspectedAgent } from '../inspected-agent.ts';
import type { Recorder } from '../recorder.ts';
import { createFold } from '../view-fold.ts';
import type { ViewState } from '../view-state.ts';
import { type Refusal, isRefusal } from './guard-request.ts';
import { lineOf, lineOfJson } from './line-of.ts';
import { type Done, createCommands } from './run-command.ts';
import { type Paint, createPaint, linesOf, treeLines } from './terminal-lines.ts';

export interface TerminalOptions {
  /** Whose calls can be decided at the keyboard. */
  agents?: readonly InspectedAgent[];
  /** `log`: a line for each transition. `tree`: all actors as they are, drawn anew; a terminal only. Default `log`. */
  view?: 'log' | 'tree';
  output?: NodeJS.WritableStream & { isTTY?: boolean; rows?: number };
  /** Nobody is asked where this is no terminal. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean };
}

const perRead = 1_000;

/** Prints a log from its beginning and goes on as it grows. `show` gets the view after each batch. */
const follow = (log: EventLog, print: (lines: string[]) => void, paint: Paint, show: (view: ViewState) => void) => {
  const fold = createFold(log.base());
  let position = log.folded;
  let since: number | undefined;
  const read = (): void => {
    for (;;) {
      position = Math.max(position, log.folded);
      const events = log.after(position, perRead);
      if (events.length === 0) break;
      const lines: string[] = [];
      for (const event of events) {
        const view = fold.add(event);
        since ??= event.at;
        lines.push(...linesOf(view, event, since, paint));
      }
      position += events.length;
      print(lines);
    }
    show(fold.view);
  };
  read();
  return log.subscribe(read);
};

/** All of a log that is there, as lines. */
export const printLog = (log: EventLog, output: NodeJS.WritableStream): void => {
  const print = (lines: string[]): void => {
    if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
  };
  follow(log, print, createPaint(output), () => undefined)();
};

/** A line that is wider than the terminal ends at its border, so that each stays one line. */
const cut = '\u001b[?7l';
const wrap = '\u001b[?7h';
const clearBelow = '\u001b[J';
const upBy = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\r`);

/** Shows what is recorded, and asks for decisions where there is a keyboard. Gives back how to stop. */
export const followInTerminal = (
  recorder: Recorder,
  { agents = [], view: mode = 'log', output = process.stdout, input = process.stdin }: TerminalOptions = {},
): (() => void) => {
  const paint = createPaint(output);
  const isTree = mode === 'tree' && output.isTTY === true;
  const run = createCommands({ recorder, agents });
  const asked = new Set<string>();
  const leaving = new AbortController();
  let asking = Promise.resolve();
  let drawn = 0;

  const print = (lines: string[]): void => {
    if (!isTree && lines.length > 0) output.write(`${lines.join('\n')}\n`);
  };
  const draw = (view: ViewState): void => {
    const all = Object.values(view.sessions).flatMap((session) => treeLines(session, paint));
    // What is above the screen cannot be drawn again: the newest lines are there.
    const lines = all.slice(-Math.max(1, (output.rows ?? Infinity) - 1));
    output.write(`${upBy(drawn)}${clearBelow}${cut}${lines.map((line) => `${line}\n`).join('')}${wrap}`);
    drawn = lines.length;
  };
  const show = (view: ViewState): void => {
    if (isTree) draw(view);
    for (const session of Object.values(view.sessions)) {
      if (waitingIn(view, session) === 0) continue;
      for (const approval of approvalsOf(view, session)) {
        const key = `${approval.session} ${approval.callId} ${approval.inputHash}`;
        if (asked.has(key) || approval.needs !== 'approval' || recorder.rootOf(session.id) === undefined) continue;
        asked.add(key);
        asking = asking.then(() => ask(approval));
      }
    }
  };
  const ask = async (approval: Approval): Promise<void> => {
    const { tool, input: args, reason } = approval;
    const why = reason === undefined ? '' : ` (${lineOf(reason)})`;
    output.write(
      `${paint('yellow', '?')} ${paint('bold', lineOf(tool))} ${lineOfJson(args, 2_000)} needs approval${why}\n`,
    );
    if (input.isTTY !== true || agents.length === 0) return;
    drawn = 0;
    const answer = await askAt({ input, output, signal: leaving.signal }, approval, run);
    if (answer !== undefined && isRefusal(answer)) output.write(`${paint('red', lineOf(answer.message))}\n`);
  };

  const stop = follow(recorder.log, print, paint, show);
  return () => {
    stop();
    leaving.abort();
  };
};

interface Keyboard {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/** Asks until there is an answer. A keyboard that is gone decides nothing: the call still waits. */
const askAt = async (
  { input, output, signal }: Keyboard,
  { session, callId, inputHash }: Approval,
  run: (command: Command) => Promise<Refusal | Done>,
): Promise<Refusal | Done | undefined> => {
  const terminal = createInterface({ input, output });
  const ended = new AbortController();
  terminal.once('close', () => ended.abort());
  const either = AbortSignal.any([signal, ended.signal]);
  const id = crypto.randomUUID();
  try {
    for (;;) {
      const answer = (await terminal.question('  [a]pprove, [r]eject, [l]ater? ', { signal: either }))
        .trim()
        .toLowerCase();
      if (answer === 'a') return await run({ type: 'approve', id, session, callId, inputHash });
      if (answer === 'l') return undefined;
      if (answer !== 'r') continue;
      const reason = await terminal.question('  Reason: ', { signal: either });
      return await run({ type: 'reject', id, session, callId, inputHash, ...(reason === '' ? {} : { reason }) });
    }
  } catch {
    return undefined;
  } finally {
    terminal.close();
  }
};
