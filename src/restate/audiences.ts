import type { DeltaEvent } from '../actors/delta-event.ts';
import type { AgentEvent } from '../sessions/agent-event.ts';
import { EventBuffer } from '../sessions/event-buffer.ts';

/** What a worker tells those who read along: past the engine, as it happens, and only of what happens in this worker. */
export type Line =
  /** A step of a session, from one commit to another. `asking` names the model call that is under way then. */
  | { type: 'step'; from: number; revision: number; asking: string | null; events: AgentEvent[] }
  /** What an effect said on its way; `model` where it is the model call of that name. */
  | { type: 'deltas'; model?: string; events: AgentEvent[] };

/** What one effect says while it is at work. */
export interface Voice {
  hasReaders(): boolean;
  emit(event: DeltaEvent): void;
  /** It has said all. */
  end(): void;
}

/** Those who read along in this worker, by the keys of sessions. */
export interface Audiences {
  hasReaders(key: string): boolean;
  tell(key: string, line: Line): void;
  voice(key: string, model: string | undefined): Voice;
  /** Tells what the effects at work have said so far, then what comes. Gives what ends it. */
  join(key: string, push: (line: Line) => void): () => void;
}

interface Speaker {
  said: EventBuffer;
  model: string | undefined;
}

interface Audience {
  readers: Set<(line: Line) => void>;
  speakers: Set<Speaker>;
}

const deltas = (model: string | undefined, events: AgentEvent[]): Line => ({
  type: 'deltas',
  ...(model === undefined ? {} : { model }),
  events,
});

export const createAudiences = (): Audiences => {
  const audiences = new Map<string, Audience>();
  const of = (key: string): Audience => {
    const audience = audiences.get(key) ?? { readers: new Set(), speakers: new Set() };
    audiences.set(key, audience);
    return audience;
  };
  const leave = (key: string, { readers, speakers }: Audience): void => {
    if (readers.size === 0 && speakers.size === 0) audiences.delete(key);
  };
  const tell = (key: string, line: Line): void => {
    for (const push of audiences.get(key)?.readers ?? []) push(line);
  };
  const hasReaders = (key: string): boolean => (audiences.get(key)?.readers.size ?? 0) > 0;
  return {
    hasReaders,
    tell,
    voice: (key, model) => {
      const audience = of(key);
      const speaker = { said: new EventBuffer(), model };
      audience.speakers.add(speaker);
      return {
        hasReaders: () => hasReaders(key),
        emit: (event) => {
          speaker.said.join(event);
          tell(key, deltas(model, [event]));
        },
        end: () => {
          audience.speakers.delete(speaker);
          leave(key, audience);
        },
      };
    },
    join: (key, push) => {
      const audience = of(key);
      audience.readers.add(push);
      for (const { said, model } of audience.speakers) if (said.size > 0) push(deltas(model, said.list()));
      return () => {
        audience.readers.delete(push);
        leave(key, audience);
      };
    },
  };
};
