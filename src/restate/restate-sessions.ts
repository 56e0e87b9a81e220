import type { Agent } from '../sessions/agent.ts';
import { partsOf } from '../sessions/agent-parts.ts';
import { checkSessionId } from '../sessions/check-options.ts';
import { newId } from '../sessions/new-id.ts';
import { createIngress } from './call-ingress.ts';
import { checkOptions } from './check-options.ts';
import { createRemoteSession } from './create-remote-session.ts';
import { namesOf } from './names.ts';
import type { RemoteSession } from './remote-session.ts';
import { checkKey, sessionKey } from './session-key.ts';

export interface RestateSessionsOptions {
  /** Where the engine takes calls, such as `http://127.0.0.1:8080`. */
  ingress: string;
  /** Of a tenant, a secret of at least 32 random characters: its sessions can be named by nobody who has another key, or none. */
  key?: string;
  /** Whose sessions: its name, or the agent itself, whose `output` then parses structured answers. Default `agent`. */
  agent?: string | Agent;
  /** Where the workers tell what happens as it happens: what their `listenLive` gave. Default none. */
  live?: readonly string[];
}

export interface RestateSessions {
  /**
   * The session of that id; a new one where there is none, made by the first thing that is sent to it. Ids are data: any well-formed text without NUL, of
   * 1 to 1,000 characters, is one.
   */
  open(sessionId?: string): Promise<RemoteSession>;
}

/** Sessions that live in Restate, whose workers `restateWorker` makes. Throws `invalid-option`. */
export const restateSessions = (options: RestateSessionsOptions): RestateSessions => {
  checkOptions('restateSessions', options);
  const { ingress, key, agent = 'agent', live = [] } = options;
  checkKey(key, 'restateSessions');
  const parts = typeof agent === 'string' ? undefined : partsOf(agent, 'restateSessions');
  const name = parts?.agent ?? (agent as string);
  const { sessions } = namesOf(name);
  const call = createIngress(ingress);
  return {
    open: async (sessionId = newId()) => {
      checkSessionId(sessionId, 'open');
      const objectKey = await sessionKey(sessionId, key);
      return createRemoteSession({
        sessionId,
        call: (handler, body, signal) => call(sessions, objectKey, handler, body, signal),
        live: live.map((url) => `${url.replace(/\/$/, '')}/${name}/${encodeURIComponent(objectKey)}`),
        parseOutput: parts?.parseOutput ?? (async (output) => output),
      });
    },
  };
};
