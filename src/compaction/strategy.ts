import type { Message } from '../messages/message.ts';
import type { CompactionCall, CompactionRequest } from '../models/compaction.ts';
import type { Keep } from './keep.ts';

/** One way to make a conversation shorter. What `keep` does not name is old; without `replace` it is left out. */
export interface Strategy {
  name: string;
  keep: Keep;
  /** An old message as it is sent; the message itself where it stays as it is. Must give the same object for the same message. */
  replace?(message: Message): Message;
  /** What is said in place of the old part: `fresh` has become old now, `before` was said of what was old already. */
  sumUp?(
    fresh: readonly Message[],
    before: string | undefined,
    request: CompactionRequest,
  ): Promise<{ text: string; call: CompactionCall }>;
}
