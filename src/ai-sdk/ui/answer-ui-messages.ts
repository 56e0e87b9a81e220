import { AgentError } from '../../errors.ts';
import type { JsonValue } from '../../messages/json.ts';
import type { AgentEvent } from '../../sessions/agent-event.ts';
import type { Session } from '../../sessions/session.ts';
import { turnUnderWay } from '../../sessions/turn-under-way.ts';
import { fromUIMessages } from './from-ui-messages.ts';
import { type UIStreamOptions, toUIMessageStream } from './to-ui-message-stream.ts';
import type { UIMessage, UIMessageChunk } from './ui-types.ts';

export interface UIAnswerOptions extends Omit<UIStreamOptions, 'messages'> {
  /** Who decides, for the session's log. */
  by?: string;
  /** Arguments that run in place of those that were shown, by the id of the approval; the page sends them beside its messages. */
  edits?: Readonly<Record<string, JsonValue>>;
}

const turnOf = (session: Session): number => turnUnderWay(session).number;

const soon = (): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, 0, undefined));

/**
 * The events until the turn rests or waits, and none where nothing happens. `before` is the turn that was under way when a message was sent:
 * what it still says is for whoever asked it, unless the session then waits, and the message with it.
 */
async function* untilRest(
  session: Session,
  reader: AsyncIterator<AgentEvent>,
  before: number | undefined,
): AsyncGenerator<AgentEvent> {
  let isBefore = before !== undefined;
  try {
    for (;;) {
      const next = reader.next();
      // Where the session rests, only what it has said already is still to come: at the latest when that is stored.
      const found =
        session.status === 'busy' ? await next : await Promise.race([next, session.settled().then(soon, soon)]);
      if (found === undefined || found.done === true) return;
      const { value } = found;
      if (isBefore) {
        if (value.type !== 'finish' || value.turn !== before) continue;
        isBefore = false;
        if (value.result.outcome.type !== 'pending') continue;
      }
      yield value;
      if (value.type === 'finish') return;
    }
  } finally {
    await reader.return?.();
  }
}

/**
 * Answers one request of a page with `useChat`: makes the decisions that its messages hold, sends the new message, and gives what follows as
 * a stream of UI message chunks. A page that goes away stops nothing; the session goes on and the page can ask again. A message that is sent
 * while a turn runs is queued: its own turn is what follows.
 *
 * The last message counts as new where it is the user's: let the page take none while an approval is open, or it would be sent again with the
 * answer; and no `regenerate`, since a session keeps its history. Throws `AgentError` where a decision does not apply; then no message
 * is sent; and where the message is refused.
 *
 * @example
 * const session = await agent.open(id);
 * return createUIMessageStreamResponse({ stream: await answerUIMessages(session, messages) });
 */
export const answerUIMessages = async (
  session: Session,
  messages: readonly UIMessage[],
  { by, edits = {}, ...options }: UIAnswerOptions = {},
): Promise<ReadableStream<UIMessageChunk>> => {
  const { message, approvals, results } = fromUIMessages(messages, { pending: session.pending });
  const who = by === undefined ? {} : { by };
  const reader = session.events()[Symbol.asyncIterator]();
  const before = message !== undefined && session.status === 'busy' ? turnOf(session) : undefined;
  try {
    // All at once: between one decision and the next the turn would rest again.
    await Promise.all([
      ...approvals.map(({ callId, approved, reason, ...bound }) => {
        const edit = Object.hasOwn(edits, callId) ? edits[callId] : undefined;
        if (approved)
          return session.approve(callId, { ...bound, ...who, ...(edit === undefined ? {} : { input: edit }) });
        return session.reject(callId, { ...bound, ...who, ...(reason === undefined ? {} : { reason }) });
      }),
      ...results.map(({ callId, output }) => session.respond(callId, output, who)),
    ]);
    // Behind an open decision a message has no fate yet, so only a refusal is waited for.
    const fate = message === undefined ? undefined : await Promise.race([session.send(message), soon()]);
    if (fate?.type === 'refused') throw new AgentError('session-busy', `the message was refused: ${fate.reason}`);
  } catch (error) {
    await reader.return?.();
    throw error;
  }
  return toUIMessageStream(untilRest(session, reader, before), { ...options, messages });
};
