import type { Message } from '../messages/message.ts';
import { type About, type SessionDocument, format, machineVersion, readDocument } from './document.ts';
import type { StoredAgent } from './stored-agent.ts';

/** A document from what a store has. */
export const documentFrom = (
  about: About & { sessionId: string },
  { machineVersion: version, agent: state }: { machineVersion: number; agent: StoredAgent },
  messages: Message[],
): SessionDocument => {
  const { revision, ...known } = about;
  const at = revision === undefined ? {} : { revision };
  const document = { format, machineVersion: version, ...known, ...at, messages, state } as const;
  return version === machineVersion ? document : readDocument(document);
};
