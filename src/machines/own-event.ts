import type { UserMessageEvent } from './agent-context.ts';

const own = Symbol('own');

/** The event of a message that is checked already, and that nobody else has: it need not be copied again. */
export const ownEvent = <T extends UserMessageEvent & Required<Pick<UserMessageEvent, 'messages'>>>(event: T): T => ({
  ...event,
  [own]: true,
});

export const isOwnEvent = (event: UserMessageEvent): boolean => own in event;
