import type { ActorRefFrom } from 'xstate';
import { AgentError } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import { type AgentContext, decisionOf } from '../machines/agent-context.ts';
import { ownerOf, pendingOf } from '../machines/round.ts';
import type { DecisionEvent } from '../machines/tool-call-context.ts';
import type { Authorize } from './agent-options.ts';
import { type DecisionGiven, checkDecision, decisionFrom } from './check-decision.ts';

/** What a session lends for its decisions. */
export interface DecisionHost {
  actor: ActorRefFrom<AgentMachine>;
  authorize: Authorize | undefined;
  /** What the application gave to the turn. */
  context(): unknown;
  assertOpen(): void;
  until<T>(find: () => T | undefined): Promise<T>;
  /** The session's actor stays the same meanwhile. */
  keepAwake<T>(work: () => Promise<T>): Promise<T>;
}

export type Decide = (
  type: DecisionEvent['type'],
  callId: string,
  given?: DecisionGiven,
  output?: unknown,
  /** Called in the moment in which the chart takes it. */
  onTaken?: () => void,
) => Promise<void>;

/** Checks a decision, asks whether it is allowed, and gives it to the chart. Of an edit it waits for the check. */
export const createDecide = (host: DecisionHost): Decide => {
  const { actor, authorize, context: live, assertOpen, until } = host;
  const context = (): AgentContext => actor.getSnapshot().context;
  /** An edit is taken when its check has taken it. */
  const checked = async (event: DecisionEvent): Promise<void> => {
    if (event.type !== 'approval.granted' || event.input === undefined) return;
    const { callId } = event;
    // An agent inside a call tells of its calls only through it.
    const isChecked = (): boolean => {
      const owner = ownerOf(context().round, callId);
      if (owner?.callId === callId) return owner.phase !== 'validating';
      return owner?.nested?.checking.includes(callId) !== true;
    };
    await until(() => isChecked() || undefined);
    const refused = pending(callId)?.refusedEdit;
    if (refused !== undefined) throw new AgentError('invalid-input', refused);
  };
  const pending = (callId: string) => pendingOf(context()).find((call) => call.callId === callId);
  return async (type, callId, given, output, onTaken) => {
    const event = decisionFrom(type, callId, given, output);
    assertOpen();
    if (!checkDecision(context(), event)) return checked(event);
    const call = pending(callId);
    if (call !== undefined && authorize !== undefined) {
      // A copy: who is asked about the call cannot change it.
      const asked = {
        call: structuredClone(call),
        decision: decisionOf(event),
        ...(event.by === undefined ? {} : { by: event.by }),
      };
      // Exactly true: an answer in other words, such as 'no', is not a yes.
      if ((await host.keepAwake(async () => authorize(asked, live()))) !== true) {
        throw new AgentError(
          'not-authorized',
          `${event.by ?? 'nobody in particular'} may not decide on call ${callId} (${call.tool})`,
        );
      }
      // Somebody else may have decided meanwhile.
      assertOpen();
      if (!checkDecision(context(), event)) return checked(event);
    }
    onTaken?.();
    actor.send(event);
    return checked(event);
  };
};
