import { type Bound, type Rules, checkGiven, has, isA } from '../../sessions/option-bounds.ts';
import type { InspectorOptions } from './start-inspector.ts';

const isAgent = has('', 'open').holds;

const storeMethods = ['read', 'commit', 'history', 'list', 'post'] as const;

const text: Bound = { says: 'a string that is not empty', holds: (value) => typeof value === 'string' && value !== '' };

const options = {
  port: {
    says: 'a whole number from 0 (any free port) to 65535',
    holds: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  },
  host: { ...text, says: 'a name or address of this machine, such as "127.0.0.1"' },
  agents: {
    says: 'an array of agents: what createAgent gives, or { ...agent, tools, limits }',
    holds: (value) =>
      Array.isArray(value) &&
      value.every(
        (each: unknown) => isAgent(each) && has('', 'transition').holds((each as { machine?: unknown }).machine),
      ),
  },
  store: {
    says: `a path, or a SessionStore: the functions ${storeMethods.join(', ')}`,
    holds: (value) => text.holds(value) || has('', ...storeMethods).holds(value),
  },
  record: { ...text, says: 'the path of a file' },
  recorder: has('what createRecorder() gives', 'inspect', 'describe', 'rootOf'),
  allowInProduction: isA('boolean'),
} satisfies Record<keyof InspectorOptions, Bound> & Rules;

/** Throws `invalid-option` for an option that nobody knows, or that is not what it has to be. */
export const checkOptions = (given: unknown): void => checkGiven(given, options, 'startInspector');
