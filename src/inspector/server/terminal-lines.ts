import { styleText } from 'node:util';
import { type TreeNode, actorTree, callOf } from '../actor-tree.ts';
import type { ProtocolEvent } from '../protocol.ts';
import { record } from '../read-plain.ts';
import { type TimelineEntry, entryOf, pathOf } from '../timeline.ts';
import { type SessionView, type ViewState, sessionOf } from '../view-state.ts';
import { lineOf, lineOfJson } from './line-of.ts';

type Style = Parameters<typeof styleText>[0];

/** Colours where the stream has them: `NO_COLOR` and pipes have none. */
export const createPaint =
  (stream: NodeJS.WritableStream) =>
  (style: Style, text: string): string =>
    styleText(style, text, { stream: stream as NodeJS.WriteStream, validateStream: true });

export type Paint = ReturnType<typeof createPaint>;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)}s`.padStart(9);

/** States that are left at once: seen on the page, noise in a log. */
const isInner = ({ kind, from, to }: TimelineEntry): boolean =>
  kind === 'step' && (from === to || to.startsWith('settled.'));

/** The lines that one event is worth, with the view right after it. */
export const linesOf = (view: ViewState, event: ProtocolEvent, since: number, paint: Paint): string[] => {
  const entry = entryOf(view, event);
  if (entry === undefined || entry.kind === 'ignored' || isInner(entry)) return [];
  const lead = paint('dim', seconds(entry.at - since));
  const session = sessionOf(view, entry.session);
  const actor = session?.actors[entry.actor];
  const call = actor === undefined ? undefined : callOf(actor);
  const name = paint('bold', lineOf(entry.name));
  switch (entry.kind) {
    case 'started':
      return [`${lead}  ├ ${name} ${lineOfJson(record(record(actor?.context)['call'])['input'])}`];
    case 'settled': {
      const isOk = call?.status === 'ok';
      const took = call?.endedAt === undefined ? '' : paint('dim', ` ${call.endedAt - call.startedAt} ms`);
      const why = call?.error === undefined ? '' : `: ${lineOf(call.error)}`;
      return [
        `${lead}  └ ${paint(isOk ? 'green' : 'red', isOk ? '✔' : '✘')} ${name} ${call?.status ?? ''}${why}${took}`,
      ];
    }
    case 'step': {
      // What a call goes through stands between its start and its end.
      const mark = call === undefined ? '' : '│ ';
      const guard = entry.guard === undefined ? '' : paint('dim', ` [${lineOf(entry.guard)}]`);
      // Of a session in a store nobody knows what moved its calls.
      const isTold = entry.cause !== 'always' && entry.cause !== '';
      const cause = !isTold ? '' : paint('dim', ` on ${lineOf(entry.cause)}`);
      const to = paint('cyan', lineOf(entry.to));
      return [`${lead}  ${mark}${name} ${lineOf(entry.from)} → ${to}${cause}${guard}`];
    }
    case 'error':
    case 'failure':
      return [`${lead}  ${paint('red', '!')} ${name} ${lineOf(entry.note)}`];
    case 'decision':
    case 'said':
      return [`${lead}  ${paint('yellow', '•')} ${name} ${lineOf(entry.note)}`];
    default:
      return entry.kind satisfies never;
  }
};

const signs: Record<string, [sign: string, style: Style]> = {
  ok: ['✔', 'green'],
  failed: ['✘', 'red'],
  'timed-out': ['✘', 'red'],
  rejected: ['✘', 'yellow'],
  'awaiting-decision': ['?', 'yellow'],
  'awaiting-result': ['?', 'yellow'],
  running: ['◐', 'cyan'],
  'backing-off': ['↻', 'yellow'],
};

/** A session's actors as they are now. */
export const treeLines = (session: SessionView, paint: Paint): string[] => {
  const root = actorTree(session);
  if (root === undefined) return [];
  const walk = ({ actor, call, children }: TreeNode, lead: string): string[] => {
    const state = call?.status ?? (actor.chart === null ? actor.status : pathOf(actor.states));
    const [sign, style] =
      signs[call?.status ?? call?.phase ?? ''] ?? (actor.status === 'active' ? ['◐', 'cyan'] : ['·', 'dim']);
    const name =
      call === undefined ? (actor.key === session.root ? (session.agent ?? actor.src) : actor.id) : call.tool;
    const tries = call !== undefined && call.attempt > 1 ? ` (try ${call.attempt})` : '';
    const line = `${lead}${paint(style, sign)} ${lineOf(name)} ${paint('dim', lineOf(state))}${tries}`;
    return [line, ...children.flatMap((child) => walk(child, `${lead}  `))];
  };
  return walk(root, '');
};
