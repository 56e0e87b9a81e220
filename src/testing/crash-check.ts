import { canonicalJson } from '../messages/json.ts';
import { type Message, partsOf } from '../messages/message.ts';
import { violations } from '../messages/violations.ts';
import type { RunResult } from '../sessions/session.ts';
import type { CrashEvent, CrashSafety } from './crash-log.ts';

/** How a session came to its end. */
export interface CrashEnd {
  result: Pick<RunResult, 'outcome' | 'text' | 'output'>;
  messages: readonly Message[];
  /** A history provider keeps the messages of the turns before the last one. */
  isElsewhere?: boolean;
}

/** A session from its start to its end, through one life or two. */
export interface CrashRun {
  events: readonly CrashEvent[];
  end: CrashEnd;
}

type Begun = Extract<CrashEvent, { type: 'begun' }>;

const counted = (items: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
};

const begunIn = ({ events }: CrashRun): Begun[] => events.filter((event) => event.type === 'begun');

const saidByUsers = ({ end }: CrashRun): unknown[] =>
  end.messages.filter(({ role }) => role === 'user').map(({ content }) => content);

const shortened = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

const answerOf = ({ end: { result } }: CrashRun): string =>
  canonicalJson({ outcome: result.outcome, text: result.text, output: result.output });

/** A reply that is stored is in the history for good: the same is asked again no more often than without a crash. */
const askedAgain = (clean: CrashRun, crashed: CrashRun): string[] => {
  const allowed = counted(clean.events.flatMap((event) => (event.type === 'asked' ? event.request : [])));
  const requests = new Map<string, string>();
  const stored = new Set<string>();
  const found: string[] = [];
  for (const event of crashed.events) {
    if (event.type === 'commit') for (const reply of event.replies) stored.add(reply);
    if (event.type !== 'asked') continue;
    const { reply, request } = event;
    const answers = [...requests].filter(([earlier, same]) => same === request && stored.has(earlier)).length;
    if (answers >= Math.max(1, allowed.get(request) ?? 0))
      found.push(`the model was asked again although its reply was stored: ${shortened(request)}`);
    requests.set(reply, request);
  }
  return found;
};

/** What may run again: where its result is not stored, and its tool allows it. */
const ranAgain = ({ events }: CrashRun): string[] => {
  const found: string[] = [];
  const runs = new Map<string, Begun[]>();
  const settled = new Set<string>();
  let asked = false;
  for (const event of events) {
    if (event.type === 'died') for (const callId of event.settled) settled.add(callId);
    if (event.type === 'commit' && event.pending > 0) asked = true;
    if (event.type === 'died') asked = false;
    if (event.type !== 'begun') continue;
    const { tool, callId, attempt, idempotencyKey, input, safety } = event;
    const name = `${tool} (${callId})`;
    const before = runs.get(callId) ?? [];
    runs.set(callId, [...before, event]);
    if (settled.has(callId)) found.push(`${name} was run again although its result was stored`);
    const first = before[0];
    if (first === undefined) continue;
    if (first.idempotencyKey !== idempotencyKey)
      found.push(`${name} was run with the key ${idempotencyKey}; before, it was ${first.idempotencyKey}`);
    if (first.input !== input && safety !== 'ask')
      found.push(`${name} was run with ${shortened(input)}; before, it was ${shortened(first.input)}`);
    const isSecond = before.some((earlier) => earlier.attempt === attempt);
    if (isSecond && safety === 'report') found.push(`${name} is not to be repeated, and was run twice`);
    if (isSecond && safety === 'ask' && !asked) found.push(`${name} was run twice, and nobody was asked`);
  }
  return found;
};

/** Effects that happened once without a crash happen once with it: not under another call's name either. */
const ranMore = (clean: CrashRun, crashed: CrashRun): string[] => {
  const keysOf = (run: CrashRun): Map<string, number> => {
    const once = new Map(
      begunIn(run)
        .filter(({ safety }) => safety !== 'readOnly')
        .map(
          ({ idempotencyKey, callId, tool, input }) => [`${idempotencyKey} ${callId}`, `${tool}(${input})`] as const,
        ),
    );
    return counted([...once.values()]);
  };
  const expected = keysOf(clean);
  return [...keysOf(crashed)].flatMap(([call, count]) =>
    count > (expected.get(call) ?? 0)
      ? [`${shortened(call)} was run for ${count} calls; without a crash for ${expected.get(call) ?? 0}`]
      : [],
  );
};

const unknownCalls = ({ end }: CrashRun): string[] =>
  end.messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap(({ toolName, providerOptions }) =>
          providerOptions?.['agentchart']?.['status'] === 'outcome-unknown' ? [toolName] : [],
        )
      : [],
  );

/** "Outcome unknown" is for tools that are neither read-only nor idempotent and want it so. */
const wronglyUnknown = (clean: CrashRun, crashed: CrashRun): string[] => {
  const safety = new Map<string, CrashSafety>(
    [...begunIn(clean), ...begunIn(crashed)].map((begun) => [begun.tool, begun.safety]),
  );
  return unknownCalls(crashed).flatMap((tool) =>
    (safety.get(tool) ?? 'report') === 'report'
      ? []
      : [`the outcome of ${tool} is said to be unknown; a tool that is ${safety.get(tool)} runs again`],
  );
};

const lostCalls = (run: CrashRun): string[] => {
  if (run.end.isElsewhere) return [];
  const ids = run.end.messages.flatMap((message) =>
    partsOf(message).flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : [])),
  );
  const begun = [...new Set(begunIn(run).map(({ callId }) => callId))];
  return begun
    .filter((callId) => !ids.some((id) => callId.startsWith(id)))
    .map((callId) => `the call ${callId} was run, and is not in the history`);
};

/** Somewhere a call's outcome was said to be unknown: from there on the session may go another way (decision of its model). */
export const isUnknown = (run: CrashRun): boolean =>
  unknownCalls(run).length > 0 || run.events.some((event) => event.type === 'commit' && event.isUnknown);

/** What went wrong through the crash, one sentence each. */
export const crashProblems = (clean: CrashRun, crashed: CrashRun): string[] => {
  const isOther = isUnknown(crashed);
  const answers = { before: answerOf(clean), after: answerOf(crashed) };
  const users = { before: canonicalJson(saidByUsers(clean)), after: canonicalJson(saidByUsers(crashed)) };
  return [
    ...violations(crashed.end.messages).map((violation) => `the history is not whole: ${violation}`),
    ...(isOther || answers.before === answers.after
      ? []
      : [`the end is ${shortened(answers.after)}; without a crash it is ${shortened(answers.before)}`]),
    ...(users.before === users.after
      ? []
      : [`the users' messages are ${shortened(users.after)}; without a crash ${shortened(users.before)}`]),
    ...lostCalls(crashed),
    ...ranAgain(crashed),
    ...(isOther ? [] : ranMore(clean, crashed)),
    ...wronglyUnknown(clean, crashed),
    ...askedAgain(clean, crashed),
  ];
};

const lineOf = (message: Message): string => {
  const parts = partsOf(message).map((part) => {
    if (part.type === 'tool-call') return `${part.toolCallId} ${part.toolName}(${canonicalJson(part.input)})`;
    if (part.type === 'tool-result') return `${part.toolCallId}: ${canonicalJson(part.output)}`;
    return 'text' in part ? part.text : part.type;
  });
  return `${message.role}: ${shortened(parts.join(' | '))}`;
};

/** A history for people to read. */
export const historyText = (messages: readonly Message[]): string =>
  messages.length === 0 ? '  (empty)' : messages.map((message) => `  ${lineOf(message)}`).join('\n');
