import type { SessionDocument } from './document.ts';

/** Where sessions are kept. Documents are plain JSON; ids are data, whatever they look like. */
export interface SessionStore {
  /** True: an effect waits until the state that asks for it is saved. */
  readonly durable: boolean;
  /** undefined where there is no such session. */
  load(sessionId: string): Promise<SessionDocument | undefined>;
  save(document: SessionDocument): Promise<void>;
  delete(sessionId: string): Promise<void>;
}
