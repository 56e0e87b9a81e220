import { AgentError } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';
import type { RunOptions } from './agent.ts';
import type { AgentOptions } from './agent-options.ts';

type Bound = { says: string; holds: (value: unknown) => boolean };

const integer = (min: number): Bound => ({
  says: `an integer ≥ ${min}`,
  holds: (value) => Number.isInteger(value) && (value as number) >= min,
});
const positive: Bound = {
  says: 'a number > 0',
  holds: (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
};
const notNegative: Bound = {
  says: 'a number ≥ 0',
  holds: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
};
const oneOf = (...values: readonly unknown[]): Bound => ({
  says: values.map((value) => JSON.stringify(value)).join(' or '),
  holds: (value) => values.includes(value),
});
const isA = (type: 'string' | 'function' | 'boolean'): Bound => ({
  says: `a ${type}`,
  holds: (value) => typeof value === type,
});
const isList: Bound = { says: 'an array', holds: Array.isArray };
const functions: Bound = {
  says: 'an array of functions',
  holds: (value) => Array.isArray(value) && value.every((item) => typeof item === 'function'),
};
const isObject: Bound = { says: 'an object', holds: (value) => typeof value === 'object' && value !== null };
const model: Bound = {
  says: 'a ChatModel: an object with a name and a generate function, such as openaiChat({ … }) gives',
  holds: (value) =>
    typeof value === 'object' &&
    value !== null &&
    'generate' in value &&
    typeof value.generate === 'function' &&
    'name' in value &&
    typeof value.name === 'string',
};
const either = (...bounds: readonly Bound[]): Bound => ({
  says: bounds.map(({ says }) => says).join(', or '),
  holds: (value) => bounds.some(({ holds }) => holds(value)),
});
const shape = (fields: Record<string, Bound>): Record<string, Bound> => fields;

const limits = shape({
  maxIterations: integer(1),
  maxConsecutiveErrors: integer(0),
  maxTokens: positive,
  maxToolCalls: positive,
  deadline: positive,
  onLimit: oneOf('finalize', 'pause', 'fail'),
});

const toolChoice = either(oneOf('auto', 'required', 'none'), {
  says: '{ tool: name }',
  holds: (value) => isPlainObject(value) && typeof value['tool'] === 'string',
});

const options: Record<string, Bound | Record<string, Bound>> = {
  model,
  name: isA('string'),
  instructions: either(isA('string'), isA('function')),
  tools: isList,
  extraTools: isList,
  output: either(isObject, isA('function')),
  limits,
  stopWhen: isA('function'),
  loopDetection: shape({ threshold: integer(2), stop: isA('boolean') }),
  concurrency: integer(1),
  detailedErrors: isA('boolean'),
  stopOnUnknownTool: isA('boolean'),
  approvals: shape({
    hold: oneOf('all', 'gated'),
    policy: isA('function'),
    authorize: isA('function'),
    expireAfter: positive,
    onMessage: oneOf('queue', 'supersede', 'refuse'),
  }),
  autopilot: isA('boolean'),
  toolChoice,
  settings: isObject,
  retry: shape({
    attempts: integer(1),
    initialDelay: notNegative,
    maxDelay: notNegative,
    factor: positive,
    maxRetryAfter: notNegative,
  }),
  fallback: { says: 'an array of ChatModels', holds: (value) => Array.isArray(value) && value.every(model.holds) },
  modelMiddleware: functions,
  toolMiddleware: functions,
  idleTimeout: positive,
  stopGrace: notNegative,
  store: isObject,
  clock: isObject,
} satisfies Record<keyof AgentOptions, Bound | Record<string, Bound>>;

const show = (value: unknown): string => {
  try {
    return typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : (JSON.stringify(value) ?? String(value));
  } catch {
    return typeof value;
  }
};

const isBound = (rule: Bound | Record<string, Bound>): rule is Bound => typeof rule['holds'] === 'function';

const checkFields = (
  given: object,
  rules: Record<string, Bound | Record<string, Bound>>,
  where: string,
  path: string,
): void => {
  for (const [key, value] of Object.entries(given)) {
    const name = `${path}${key}`;
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (rule === undefined) {
      throw new AgentError(
        'invalid-option',
        `${where}: there is no option "${name}"; known here: ${Object.keys(rules).join(', ')}`,
      );
    }
    if (value === undefined) continue;
    if (!isBound(rule)) {
      if (!isPlainObject(value)) {
        throw new AgentError('invalid-option', `${where}: option "${name}" must be an object, got ${show(value)}`);
      }
      checkFields(value, rule, where, `${name}.`);
    } else if (!rule.holds(value)) {
      throw new AgentError('invalid-option', `${where}: option "${name}" must be ${rule.says}, got ${show(value)}`);
    }
  }
};

/** R1: what is out of bounds is refused when the agent is created, with the setting, the value and the bound. */
export const checkOptions = (given: AgentOptions): void => {
  if (!isPlainObject(given)) {
    throw new AgentError('invalid-option', `createAgent: needs an options object, got ${show(given)}`);
  }
  if (given.model === undefined) {
    throw new AgentError('invalid-option', `createAgent: option "model" is missing; it must be ${model.says}`);
  }
  checkFields(given, options, 'createAgent', '');
};

const runOptions = {
  session: either(isA('string'), isObject),
  signal: {
    says: 'an AbortSignal',
    holds: (value) => typeof value === 'object' && value !== null && 'addEventListener' in value,
  },
  context: { says: 'anything', holds: () => true },
  inspect: either(isA('function'), isObject),
  model,
  limits,
  toolChoice,
  settings: isObject,
} satisfies Record<keyof RunOptions, Bound | Record<string, Bound>>;

/** The same for what a caller sets for one turn. */
export const checkRunOptions = (given: RunOptions): void => {
  if (!isPlainObject(given))
    throw new AgentError('invalid-option', `run: options must be an object, got ${show(given)}`);
  checkFields(given, runOptions, 'run', '');
};
