import type { AnyActorRef } from 'xstate';
import type { DeltaEvent } from './delta-event.ts';
import type { Audience } from './host.ts';

/** Tells what a model says as it goes, and who holds it up. */
export interface Speaker extends Pick<Audience, 'behind'> {
  publish(event: Exclude<DeltaEvent, { type: 'tool-progress' }>): void;
}

/** The call that an agent works in; undefined for the agent of the session. */
const callAbove = (agent: AnyActorRef): string | undefined => {
  const { context } = agent.getSnapshot() as { context?: { callPrefix?: string } };
  return context?.callPrefix?.slice(0, -1) || undefined;
};

/** By which an agent's model is heard: what an agent inside a call says names the call, so that nobody takes it for the answer. */
export const speakerOf = (agent: AnyActorRef, audience: Audience): Speaker => {
  const insideCall = callAbove(agent);
  if (insideCall === undefined) return audience;
  return { behind: () => audience.behind(), publish: (event) => audience.publish({ ...event, insideCall }) };
};
