import { isPlainObject } from '../messages/json.ts';
import { type Rules, checkGiven, isText } from '../sessions/option-bounds.ts';
import type { CommandOptions } from './remote-session.ts';

const rules = { id: isText(1, 1_000) } satisfies Rules;

/** For a command that takes nothing else. Throws `invalid-option`. */
export const checkCommandOptions = (given: CommandOptions, where: string): void => checkGiven(given, rules, where);

/** What a command takes beside its id, and the id. Throws `invalid-option` where the options are none, or the id is. */
export const withoutId = <T extends CommandOptions>(given: T, where: string): [Omit<T, 'id'>, string | undefined] => {
  checkCommandOptions(isPlainObject(given) ? { id: given['id'] as string } : given, where);
  const { id, ...rest } = given;
  return [rest, id];
};
