import type { Transition } from '../stores/store.ts';

const arrivals: Readonly<Record<string, string>> = {
  idle: 'no message has come yet',
  'thinking.asking': 'the model is asked',
  'thinking.backing-off': 'the model request failed, and is tried again later',
  'thinking.checking': 'the structured answer is checked',
  'thinking.deciding': 'what follows is decided',
  acting: 'the calls are at work',
  'awaiting-approval': 'the calls wait for people',
  'observing.counting': 'all calls have their results',
  'observing.consulting': 'stopWhen is asked',
  'observing.limiting': 'the limits are looked at',
  'done.answered': 'the turn is answered',
  'done.tool-calls': 'the calls are left to the caller',
  'done.limited': 'the turn rests at a limit',
  'done.refused': 'the model refuses to answer',
  'done.failed': 'the turn has failed',
  'done.stopped': 'the turn is stopped',
  closed: 'the session is closed',
};

const causes: Readonly<Record<string, string>> = {
  'xstate.init': 'the session begins',
  'xstate.done.actor.model': 'the model call is over',
  'xstate.done.actor.backoff': 'the wait is over',
  'xstate.done.actor.output': 'the answer is checked',
  'xstate.done.actor.stopWhen': 'stopWhen has answered',
  'xstate.done.actor.deadline': 'the deadline is reached',
  'user.message': 'a message came',
  'message.withdraw': 'a message was taken back',
  'approval.granted': 'a call was approved',
  'approval.rejected': 'a call was rejected',
  'call.result': 'a call was answered',
  'call.cancel': 'a call was cancelled',
  'call.reported': 'a call has got further',
  'turn.stop': 'somebody stops the turn',
  'turn.retry': 'the turn is tried again',
  'turn.told': 'everybody is told of the turn',
  'session.woken': 'the session is opened again',
  'session.close': 'somebody closes the session',
};

/** States that are left within the step that enters them: what caused the step is said where it enters them. */
const passing: readonly string[] = ['thinking.deciding', 'observing.counting', 'observing.limiting'];
const beginning: readonly string[] = ['user.message', 'turn.retry', 'session.close'];

const causeOf = ({ from, event }: Transition): string | undefined => {
  if (passing.includes(from) && event !== 'turn.stop') return undefined;
  if (from.startsWith('done.') && !beginning.includes(event)) return 'a message that waited is read';
  return Object.hasOwn(causes, event) ? causes[event] : event;
};

/** What happened, in plain words; a state or an event that nobody has named stays as it is. */
export const stepText = (step: Transition): string => {
  const arrival = Object.hasOwn(arrivals, step.to) ? arrivals[step.to] : step.to;
  return [causeOf(step), arrival].filter((part) => part !== undefined).join(': ');
};
