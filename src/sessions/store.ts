import type { SessionDocument } from './document.ts';

/** Where sessions are kept. Documents are plain JSON; ids are data, whatever they look like. */
export interface SessionStore {
  /** True: an effect waits until the state that asks for it is saved. */
  readonly durable: boolean;
  /** undefined where there is no such session. */
  load(sessionId: string): Promise<SessionDocument | undefined>;
  /** Called with live data: it must be turned into text (or copied) before the first `await`. */
  save(document: SessionDocument): Promise<void>;
  delete(sessionId: string): Promise<void>;
}
