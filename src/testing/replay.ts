import { type SessionDocument } from '../documents/document.ts';
import { AgentError } from '../errors.ts';
import type { AgentOptions } from '../sessions/agent-options.ts';
import { createAgent } from '../sessions/create-agent.ts';
import type { InputSchema } from '../tools/input-schema.ts';
import { recordedOptions } from './recorded-options.ts';
import { recordingOf } from './recording.ts';
import { type Divergence, ReplayPlayer } from './replay-player.ts';

export interface ReplayReport {
  /** The first one; absent where the session does all that it did. */
  divergence?: Divergence;
  /** What was played. */
  turns: number;
  replies: number;
}

/**
 * Plays a stored session again, with the replies, results and decisions that are in its document and with these options of an agent. Tells
 * where the session first does something else: another order, a call that is now refused or asked for, a limit that now ends a turn.
 * No model is asked, no tool runs, nobody is authorized; middleware is left out, an agent that is a tool counts as a tool. What
 * `instructions` say and what results say makes no difference.
 *
 * A document does not say how turns before the last one ended, unless by an answer: of those an end is taken as it comes. A turn that went on
 * by `retry` diverges where it ended first. Throws `AgentError` for what is no document (see `agent.restore`) or no options, such as an agent.
 */
export const replay = async <S extends InputSchema>(
  document: SessionDocument | string,
  options: AgentOptions<S>,
): Promise<ReplayReport> => {
  if (typeof options === 'object' && options !== null && 'machine' in options)
    throw new AgentError(
      'invalid-option',
      'replay needs the options of the agent, which createAgent takes, not the agent: it makes an agent of its own from them',
    );
  const player = new ReplayPlayer(recordingOf(createAgent(options).machine, document));
  const agent = createAgent(recordedOptions(options as unknown as AgentOptions, player));
  const session = await agent.open();
  player.session = session;
  for (let said = player.opening(); said !== undefined && said.length > 0; said = player.end()) {
    session.send(said).catch(() => undefined);
    do await session.settled().catch(() => undefined);
    while (session.status === 'waiting' && (await player.decide()));
    if (session.status === 'waiting') break;
  }
  const { divergence, replies } = player;
  const turns = player.context.turn.number;
  await session[Symbol.asyncDispose]();
  return { ...(divergence === undefined ? {} : { divergence }), turns, replies };
};
