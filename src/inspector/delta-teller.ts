import type { DeltaEvent } from '../actors/delta-event.ts';
import { type PieceMask, jsonMask, textMask } from './piece-mask.ts';
import type { Told } from './protocol.ts';
import { toPlain } from './to-plain.ts';

type Delta = Extract<Told, { type: 'delta' }>;
type Growing = Exclude<DeltaEvent, { type: 'tool-progress' }>;

const kinds = { 'text-delta': 'text', 'reasoning-delta': 'reasoning', 'tool-input-delta': 'tool-input' } as const;

interface Stream {
  mask: PieceMask;
  told: Omit<Delta, 'text'>;
}

interface Replies {
  /** The agents whose models are answering. */
  agents: Set<string>;
  /** Several answered at once: nobody knows whose piece is whose. */
  isMixed: boolean;
  streams: Map<string, Stream>;
}

export interface DeltaTeller {
  /** An agent's model begins to answer. */
  begin(session: string, agent: string): void;
  tell(session: string, event: DeltaEvent): void;
  /** The reply is whole, or is over: what was held back of it is told. */
  end(session: string, agent: string): void;
}

/** Tells what models and tools send, piece by piece, without the secrets in it. */
export const createDeltaTeller = (tell: (told: Delta) => void): DeltaTeller => {
  const sessions = new Map<string, Replies>();

  const repliesOf = (session: string): Replies => {
    const replies = sessions.get(session) ?? { agents: new Set(), isMixed: false, streams: new Map<string, Stream>() };
    sessions.set(session, replies);
    return replies;
  };
  const streamOf = (streams: Replies['streams'], session: string, event: Growing): Stream => {
    const kind = kinds[event.type];
    const of = event.type === 'tool-input-delta' ? { tool: event.tool, index: event.index } : {};
    const key = `${kind} ${of.index ?? ''}`;
    const stream = streams.get(key) ?? {
      mask: kind === 'tool-input' ? jsonMask() : textMask(),
      told: { type: 'delta' as const, session, kind, ...of },
    };
    streams.set(key, stream);
    return stream;
  };
  const tellText = (told: Stream['told'], text: string): void => {
    if (text !== '') tell({ ...told, text });
  };
  const end = (session: string, agent: string): void => {
    const replies = sessions.get(session);
    if (replies?.agents.delete(agent) !== true) return;
    for (const { mask, told } of replies.streams.values()) tellText(told, mask.rest());
    replies.streams.clear();
    if (replies.agents.size === 0) sessions.delete(session);
  };

  return {
    begin: (session, agent) => {
      end(session, agent);
      const { agents } = repliesOf(session);
      agents.add(agent);
      if (agents.size > 1) repliesOf(session).isMixed = true;
    },
    tell: (session, event) => {
      if (event.type === 'tool-progress') {
        const { callId, tool, value } = event;
        tell({ type: 'delta', session, kind: 'progress', callId, tool, text: JSON.stringify(toPlain(value)) });
        return;
      }
      const { isMixed, streams } = repliesOf(session);
      // The arguments of two calls in one another are no JSON: no key says what is secret.
      if (isMixed && event.type === 'tool-input-delta') return;
      const { mask, told } = streamOf(streams, session, event);
      tellText(told, mask.take(event.text));
    },
    end,
  };
};
