import { type CallView, callsOfRound } from './actor-tree.ts';
import { list, optionalText, record, text } from './read-plain.ts';
import type { ActorView, SessionView, Stream } from './view-state.ts';

/** A call and its result, side by side. */
export interface JoinedCall {
  type: 'call';
  callId: string;
  tool: string;
  input: unknown;
  /** Absent while there is none. */
  output?: unknown;
  /** `ok`, `failed`, …; while it is open the state of its actor. */
  status: string;
  isOpen: boolean;
  /** What its tool says meanwhile. */
  progress?: string | undefined;
  live?: CallView | undefined;
}

export type SpokenPart = { type: 'text' | 'reasoning' | 'file'; text: string } | JoinedCall;

export interface Spoken {
  key: string;
  role: string;
  parts: SpokenPart[];
  /** It is still coming, or waits to be read. */
  isOpen: 'streaming' | 'round' | 'queued' | false;
}

interface Results {
  outputs: Map<string, { output: unknown; status: string }>;
  lives: Map<string, CallView>;
  streams: readonly Stream[];
}

const partsOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? content : text(content) === '' ? [] : [{ type: 'text', text: content }];

const spokenPart = (part: unknown, { outputs, lives, streams }: Results): SpokenPart[] => {
  const { type, toolCallId, toolName, input, filename, mediaType, text: said } = record(part);
  switch (type) {
    case 'text':
    case 'reasoning':
      return [{ type, text: text(said) }];
    case 'file':
      return [{ type, text: `${optionalText(filename) ?? 'file'} (${text(mediaType)})` }];
    case 'tool-call': {
      const callId = text(toolCallId);
      const found = outputs.get(callId);
      const live = lives.get(callId);
      return [
        {
          type: 'call',
          callId,
          tool: text(toolName),
          input,
          status: found?.status ?? live?.status ?? live?.phase ?? 'open',
          isOpen: found === undefined && live?.status === undefined,
          ...(found === undefined ? {} : { output: found.output }),
          progress: streams.find((stream) => stream.kind === 'progress' && stream.callId === callId)?.text,
          live,
        },
      ];
    }
    default:
      return [];
  }
};

const addResults = (message: unknown, outputs: Results['outputs']): void => {
  for (const part of list(record(message)['content'])) {
    const { type, toolCallId, output, providerOptions } = record(part);
    if (type !== 'tool-result') continue;
    const own = record(record(providerOptions)['agentchart']);
    const isError = text(record(output)['type']).startsWith('error');
    outputs.set(text(toolCallId), { output, status: optionalText(own['status']) ?? (isError ? 'failed' : 'ok') });
  }
};

/** What the round's calls came to so far: it enters the history when all have settled. */
const addRound = (round: Record<string, unknown>, outputs: Results['outputs']): void => {
  for (const call of list(round['calls'])) {
    const { callId, result } = record(call);
    const { status, output } = record(result);
    if (output !== undefined) outputs.set(text(callId), { output, status: text(status) });
  }
};

/** The conversation of an agent as people read it: results stand with their calls, what is not in the history yet comes last. */
export const conversationOf = (session: SessionView, agent: ActorView): Spoken[] => {
  const { messages, round, inbox } = record(agent.context);
  const outputs: Results['outputs'] = new Map();
  for (const message of list(messages)) if (record(message)['role'] === 'tool') addResults(message, outputs);
  addRound(record(round), outputs);
  const lives = new Map(callsOfRound(session, agent).map((call) => [call.callId, call]));
  const results: Results = { outputs, lives, streams: session.streams };
  const spoken = (message: unknown, key: string, isOpen: Spoken['isOpen']): Spoken => {
    const { role, content } = record(message);
    return { key, role: text(role), parts: partsOf(content).flatMap((part) => spokenPart(part, results)), isOpen };
  };

  const shown = list(messages).flatMap((message, index) =>
    record(message)['role'] === 'tool' ? [] : [spoken(message, `m${index}`, false)],
  );
  const { reply } = record(round);
  if (reply !== undefined) shown.push(spoken(reply, 'round', 'round'));
  const streaming = streamed(session);
  if (streaming !== undefined) shown.push(streaming);
  for (const [index, queued] of list(inbox).entries())
    for (const message of list(record(queued)['messages'])) shown.push(spoken(message, `q${index}`, 'queued'));
  return shown;
};

const streamed = ({ streams }: SessionView): Spoken | undefined => {
  const parts = streams.flatMap(({ kind, text: said, tool }): SpokenPart[] => {
    if (kind === 'progress') return [];
    if (kind === 'tool-input') return [{ type: 'text', text: `${tool ?? 'tool'} ${said}` }];
    return [{ type: kind, text: said }];
  });
  return parts.length === 0 ? undefined : { key: 'stream', role: 'assistant', parts, isOpen: 'streaming' };
};
