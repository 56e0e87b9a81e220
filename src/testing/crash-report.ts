import { AgentError, errorData } from '../errors.ts';
import type { Message } from '../messages/message.ts';
import { violations } from '../messages/violations.ts';
import { loadStored } from '../sessions/load-stored.ts';
import type { SessionStore } from '../stores/store.ts';
import { type CrashRun, crashProblems, historyText, isUnknown } from './crash-check.ts';
import { type CrashEvent, settledIn } from './crash-log.ts';
import type { Lived } from './crash-scenario.ts';
import { type CrashCounts, type CrashPoint, describePoint, pointsOf } from './crash-point.ts';

/** What was tried, and held. */
export interface CrashReport {
  /** What happens in the scenario without a crash. */
  counts: CrashCounts;
  /** How often the process died and the session went on to its end. */
  crashes: number;
  /** After how many of them a call's outcome is unknown. */
  unknown: number;
  /** Points that were not reached: the run took another way, such as fewer commits. */
  missed: number;
}

/** Which points are tried. Default: all. */
export type ChoosePoints = (point: CrashPoint) => boolean;

/** One run: the first life, which may die, and the one that goes on. */
export interface CrashAttempt {
  /** With `point` it dies there. */
  first(point: CrashPoint | undefined): Promise<Lived>;
  second(): Promise<Lived>;
  /** A store on the same data, to look at what a death left. */
  open(): SessionStore | Promise<SessionStore>;
  sessionId: string;
  events: CrashEvent[];
}

/** At most so many failures are told in full. */
const toldInFull = 5;

/** What the store has of the session after a death. */
const look = async ({
  open,
  sessionId,
}: CrashAttempt): Promise<{ isKept: boolean; settled: string[]; messages: readonly Message[] }> => {
  const store = await open();
  try {
    const loaded = await loadStored(store, sessionId);
    return {
      isKept: loaded !== undefined,
      settled: settledIn(loaded?.document),
      messages: loaded?.document.messages ?? [],
    };
  } finally {
    await store.close();
  }
};

const attempt = async (
  clean: CrashRun,
  point: CrashPoint,
  trying: CrashAttempt,
): Promise<{ isMissed: boolean; isUnknown: boolean; problems: string[]; messages: readonly Message[] }> => {
  let messages: readonly Message[] = [];
  try {
    let { end } = await trying.first(point);
    const isMissed = end !== undefined;
    const torn: string[] = [];
    if (end === undefined) {
      const left = await look(trying);
      messages = left.messages;
      torn.push(...violations(messages).map((violation) => `the stored history is not whole: ${violation}`));
      trying.events.push({ type: 'died', settled: left.settled });
      ({ end } = await trying.second());
    }
    if (end === undefined) throw new Error('the second life died too');
    messages = end.messages;
    const crashed = { events: trying.events, end };
    return { isMissed, isUnknown: isUnknown(crashed), problems: [...torn, ...crashProblems(clean, crashed)], messages };
  } catch (error) {
    const { name, message, code } = errorData(error);
    const problem = `it came to no end: ${code === undefined ? name : `${name} ${code}`}: ${message}`;
    return { isMissed: false, isUnknown: false, problems: [problem], messages };
  }
};

/** What the scenario did, and no crash could be beside: its agent was not made with what it was given. */
const wentPast = (
  { events, end: { messages } }: CrashRun,
  { counts, tools }: { counts: CrashCounts; tools: readonly string[] },
): CrashPoint['what'] | undefined => {
  if (counts.commit === 0) return 'commit';
  if (counts['model call'] === 0 && messages.some(({ role }) => role === 'assistant')) return 'model call';
  // What never waited for anybody was answered by nobody else.
  const hasWaited = events.some((event) => event.type === 'commit' && event.pending > 0);
  const hasRun = messages.some(
    (message) =>
      message.role === 'tool' &&
      message.content.some(
        ({ toolName, providerOptions }) => tools.includes(toolName) && providerOptions === undefined,
      ),
  );
  return counts['tool run'] === 0 && hasRun && !hasWaited ? 'tool run' : undefined;
};

/** Runs it once as it is, then once for every point. Rejects with `crash-unsafe`, which tells every point where something went wrong. */
export const tryEverywhere = async (begin: () => CrashAttempt, choose: ChoosePoints): Promise<CrashReport> => {
  const trying = begin();
  const { end, counts, tools = [] } = await trying.first(undefined);
  if (end === undefined) throw new AgentError('crash-unsafe', 'the run without a crash came to no end');
  const clean: CrashRun = { events: trying.events, end };
  const past = wentPast(clean, { counts, tools });
  if (past !== undefined)
    throw new AgentError(
      'invalid-option',
      `no ${past} of the scenario can be seen: its agent has to be made with all of \`options\`, createAgent({ ...options, … })`,
    );
  if (!(await look(trying)).isKept)
    throw new AgentError(
      'invalid-option',
      'the store that is opened next does not have the session: open it on the same data each time',
    );
  const wrong = crashProblems(clean, clean);
  if (wrong.length > 0) throw new AgentError('crash-unsafe', `without a crash: ${wrong.join('; ')}`);

  const report: CrashReport = { counts, crashes: 0, unknown: 0, missed: 0 };
  const failures: string[] = [];
  for (const point of pointsOf(counts).filter(choose)) {
    const { isMissed, isUnknown: isOther, problems, messages } = await attempt(clean, point, begin());
    if (isMissed) report.missed += 1;
    else report.crashes += 1;
    if (isOther) report.unknown += 1;
    if (problems.length === 0) continue;
    const lines = problems.map((problem) => `  - ${problem}`).join('\n');
    failures.push(`killed ${describePoint(point)}:\n${lines}\n  the history then:\n${historyText(messages)}`);
  }
  if (failures.length === 0) return report;
  const more = failures.length > toldInFull ? `\n… and ${failures.length - toldInFull} more` : '';
  throw new AgentError('crash-unsafe', `${failures.slice(0, toldInFull).join('\n')}${more}`);
};
