import type { AnyActorScope } from 'xstate';

/** The actor that takes a step now; steps may begin within steps. */
let acting: AnyActorScope | undefined;

const execute: AnyActorScope['actionExecutor'] = (action) => acting?.actionExecutor(action);

/**
 * What a machine takes its steps with, in place of what its actor gives it. For each of them XState puts a function of its own in the place of
 * `actionExecutor`, and a function that is assigned to a property is made among the old objects by V8. All that such a function leads to stays
 * until the whole heap is collected, be it long over: with the actor that is its state, and all that was said. Here it leads to nothing.
 */
class StepScope implements AnyActorScope {
  readonly self: AnyActorScope['self'];
  readonly id: string;
  readonly sessionId: string;
  readonly logger: AnyActorScope['logger'];
  readonly defer: AnyActorScope['defer'];
  readonly emit: AnyActorScope['emit'];
  readonly system: AnyActorScope['system'];
  readonly stopChild: AnyActorScope['stopChild'];

  constructor({ self, id, sessionId, logger, defer, emit, system, stopChild }: AnyActorScope) {
    this.self = self;
    this.id = id;
    this.sessionId = sessionId;
    this.logger = logger;
    this.defer = defer;
    this.emit = emit;
    this.system = system;
    this.stopChild = stopChild;
  }

  get actionExecutor(): AnyActorScope['actionExecutor'] {
    return execute;
  }

  // The function that is put here keeps a list of what is executed, of which nobody asks.
  set actionExecutor(_listing) {
    return;
  }
}

/** Lets a machine take a step of an actor. */
export const takeStep = <T>(scope: AnyActorScope, take: (scope: AnyActorScope) => T): T => {
  const before = acting;
  acting = scope;
  try {
    return take(new StepScope(scope));
  } finally {
    acting = before;
  }
};
