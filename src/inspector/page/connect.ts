import type { ListedSession } from '../history-source.ts';
import type { Hello, ProtocolEvent } from '../protocol.ts';
import type { ViewState } from '../view-state.ts';
import type { ConnectionState } from './page-store.ts';

export interface Greeting extends Hello {
  isRecording: boolean;
  title?: string;
  /** Where this page goes on; null: it gets everything. */
  position: number | null;
  /** The number of the newest event. */
  last: number;
}

/** The sessions of a store, the newest first; `error`: why they cannot be read. */
export interface StoreNews {
  sessions: ListedSession[];
  error?: string;
}

/** What became of a command: `refusal` in words, or what there is to know. */
export interface Answer {
  refusal?: string;
  note?: string;
  session?: string;
}

export interface ConnectHandlers {
  onState(state: ConnectionState): void;
  onHello(hello: Greeting): void;
  /** What was before the events that follow. */
  onBase(view: ViewState): void;
  /** What everything so far came to, in place of a long past. */
  onHead(view: ViewState): void;
  onEvents(events: ProtocolEvent[]): void;
  onStored(news: StoreNews): void;
}

export interface Connection {
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<Answer>;
}

const post = async (path: string, body: object): Promise<Answer> => {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Answer & { error?: string };
    return response.ok ? answer : { refusal: answer.error ?? `refused (${response.status})` };
  } catch {
    return { refusal: 'The process does not answer.' };
  }
};

/** Trades the key of the address for a cookie, and takes it out of the address: it is to stand in no history and no picture. */
const signIn = async (): Promise<void> => {
  const token = /[#&]token=([\w-]+)/.exec(location.hash)?.[1];
  if (token === undefined) return;
  history.replaceState(null, '', location.pathname);
  await post('/login', { token });
};

/** Reads the process' events for as long as the page is open. A connection that broke goes on where it was. */
export const connect = ({ onState, onHello, onBase, onHead, onEvents, onStored }: ConnectHandlers): Connection => {
  let source: EventSource | undefined;

  const open = async (): Promise<void> => {
    source?.close();
    onState('connecting');
    await signIn();
    const stream = new EventSource('/events?head');
    source = stream;
    const hear = <T>(name: string, take: (data: T) => void): void =>
      stream.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data) as T));
    hear<Greeting>('hello', (greeting) => {
      onState('live');
      onHello(greeting);
    });
    hear('base', onBase);
    hear('head', onHead);
    hear('events', onEvents);
    hear('stored', onStored);
    stream.addEventListener('error', () => onState(stream.readyState === EventSource.CLOSED ? 'refused' : 'lost'));
  };
  addEventListener('hashchange', () => {
    if (location.hash.includes('token=')) void open();
  });
  void open();

  return {
    post,
    get: async (path) => {
      try {
        const response = await fetch(path);
        return response.ok ? ((await response.json()) as unknown) : undefined;
      } catch {
        return undefined;
      }
    },
  };
};
