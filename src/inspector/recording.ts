import { AgentError } from '../errors.ts';
import { isJson, isPlainObject } from '../messages/json.ts';
import type { EventLog } from './event-log.ts';
import { isEvent, isView } from './event-shape.ts';
import { type Hello, type ProtocolEvent, protocolVersion } from './protocol.ts';
import { type ViewState, emptyView } from './view-state.ts';

/** A file of an earlier run, or of several, one after the other. */
export interface Recording {
  hello: Hello;
  /** What was before the first event that the file has. */
  base: ViewState;
  events: ProtocolEvent[];
  /** Lines that could not be read: the last one of a process that was killed, or what is no event. */
  unreadable: number;
}

type Line = Record<string, unknown>;

const parse = (line: string): Line | undefined => {
  try {
    const parsed: unknown = JSON.parse(line);
    return isPlainObject(parsed) && isJson(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

const refuse = (what: string): never => {
  throw new AgentError('invalid-document', `this is no recording of the inspector: ${what}`);
};

/** Reads the lines of a recording. Events are numbered anew, densely. Throws `invalid-document` or `newer-document`. */
export const readRecording = async (lines: AsyncIterable<string> | Iterable<string>): Promise<Recording> => {
  let hello: Hello | undefined;
  let base = emptyView;
  let unreadable = 0;
  const events: ProtocolEvent[] = [];
  for await (const line of lines) {
    if (line === '') continue;
    const parsed = parse(line);
    if (parsed === undefined || typeof parsed['type'] !== 'string') {
      if (hello === undefined) refuse('its first line is not JSON');
      unreadable += 1;
      continue;
    }
    if (parsed['type'] === 'hello') {
      if (typeof parsed['version'] !== 'number') refuse('its first line has no version');
      if (Number(parsed['version']) > protocolVersion) {
        throw new AgentError(
          'newer-document',
          `the recording was written by a newer version (${String(parsed['version'])}, this one reads up to ${protocolVersion}); update agentchart here`,
        );
      }
      hello ??= parsed as unknown as Hello;
      continue;
    }
    if (hello === undefined) refuse('its first line is not a "hello"');
    if (parsed['type'] === 'base' && isView(parsed['view'])) {
      // Its events are numbered from 1 here.
      if (events.length === 0) base = { ...(parsed['view'] as ViewState), seq: 0 };
      continue;
    }
    if (parsed['type'] === 'base' || !isEvent(parsed)) {
      unreadable += 1;
      continue;
    }
    const event = parsed as unknown as ProtocolEvent;
    event.seq = events.length + 1;
    events.push(event);
  }
  return { hello: hello ?? refuse('it is empty'), base, events, unreadable };
};

/** A recording as a log that does not grow. */
export const logOf = ({ hello, base, events }: Omit<Recording, 'unreadable'>): EventLog => ({
  run: hello.run,
  hello,
  last: events.length,
  folded: 0,
  append: () => undefined,
  restore: () => undefined,
  base: () => base,
  after: (seq, limit) => events.slice(seq, seq + limit),
  // They were made plain when they were written.
  lines: (seq, limit) => events.slice(seq, seq + limit).map((event) => JSON.stringify(event)),
  subscribe: () => () => undefined,
});
