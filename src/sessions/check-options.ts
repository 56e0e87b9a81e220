import { AgentError } from '../errors.ts';
import { isJson, isPlainObject } from '../messages/json.ts';
import type { ModelSettings, ToolChoice } from '../models/chat-model.ts';
import type { Limits } from '../machines/turn.ts';
import { isSessionId } from '../stores/session-id.ts';
import type { OpenOptions, RunOptions, StoredOpenOptions, StreamOptions } from './agent.ts';
import type { AgentOptions } from './agent-options.ts';
import type { AgentToolOptions } from './agent-tool.ts';
import type { EventsOptions, ForkOptions } from './session.ts';
import {
  type Bound,
  type Rules,
  checkGiven,
  checkOne,
  either,
  functions,
  has,
  integer,
  isA,
  isList,
  isModel,
  isObject,
  notNegative,
  oneOf,
  positive,
  show,
  timer,
} from './option-bounds.ts';

const limits = {
  maxIterations: integer(1),
  maxConsecutiveErrors: integer(0),
  maxTokens: integer(1),
  maxToolCalls: integer(1),
  deadline: positive,
  onLimit: oneOf('finalize', 'pause', 'fail'),
} satisfies Record<keyof Limits, Bound>;

const settings = {
  temperature: notNegative,
  topP: notNegative,
  maxOutputTokens: integer(1),
  seed: { says: 'an integer', holds: Number.isInteger },
  stopSequences: {
    says: 'an array of strings',
    holds: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  },
  parallelToolCalls: isA('boolean'),
  providerOptions: { says: 'an object of plain JSON', holds: (value) => isPlainObject(value) && isJson(value) },
} satisfies Record<keyof ModelSettings, Bound>;

const toolChoice = either(oneOf('auto', 'required', 'none'), {
  says: '{ tool: name }',
  holds: (value) => isPlainObject(value) && typeof value['tool'] === 'string',
});

const storeMethods = [
  'read',
  'commit',
  'history',
  'list',
  'delete',
  'deleteBefore',
  'post',
  'inbox',
  'refusals',
  'close',
] as const;

export const storeObject: Bound = {
  says: `a SessionStore: durable (true or false) and the functions ${storeMethods.join(', ')}`,
  holds: (value) =>
    has('', ...storeMethods).holds(value) && typeof (value as { durable?: unknown }).durable === 'boolean',
};

const store = either({ says: 'a path', holds: (value) => typeof value === 'string' && value !== '' }, storeObject);

const isContextProvider = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const { name, beforeTurn, afterTurn } = value as Record<string, unknown>;
  const given = [beforeTurn, afterTurn].filter((each) => each !== undefined);
  return typeof name === 'string' && given.length > 0 && given.every((each) => typeof each === 'function');
};

const inspector = either(isA('function'), has('an observer: an object with a function next', 'next'));

/** It stands beside each session, and databases keep no other text. */
const agentName: Bound = {
  says: 'a string without NUL and without half a surrogate pair, and not empty',
  holds: (value) => typeof value === 'string' && value !== '' && !value.includes('\0') && value.isWellFormed(),
};

const options = {
  model: isModel,
  name: agentName,
  formerNames: {
    says: 'an array of strings',
    holds: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  },
  instructions: either(isA('string'), isA('function')),
  tools: isList,
  extraTools: isList,
  output: either(isObject, isA('function')),
  limits,
  stopWhen: isA('function'),
  loopDetection: { threshold: integer(2), stop: isA('boolean') },
  concurrency: integer(1),
  detailedErrors: isA('boolean'),
  stopOnUnknownTool: isA('boolean'),
  approvals: {
    hold: oneOf('all', 'gated'),
    policy: isA('function'),
    authorize: isA('function'),
    expireAfter: positive,
    onMessage: oneOf('queue', 'supersede', 'refuse'),
  },
  autopilot: isA('boolean'),
  toolChoice,
  settings,
  retry: {
    attempts: integer(1),
    initialDelay: notNegative,
    maxDelay: notNegative,
    factor: positive,
    maxRetryAfter: notNegative,
  },
  fallback: {
    says: 'an array of ChatModels',
    holds: (value) => Array.isArray(value) && value.every((each) => isModel.holds(each)),
  },
  modelMiddleware: functions,
  toolMiddleware: functions,
  agentMiddleware: functions,
  contextProviders: {
    says: 'an array of objects with a name and the functions beforeTurn, afterTurn or both',
    holds: (value) => Array.isArray(value) && value.every(isContextProvider),
  },
  history: has('an object with functions load and append', 'load', 'append'),
  compaction: has('an object with a function compact, such as compaction({ … }) gives', 'compact'),
  idleTimeout: timer,
  stopGrace: notNegative,
  store,
  clock: has('a Clock: an object with functions now, setTimeout and clearTimeout', 'now', 'setTimeout', 'clearTimeout'),
} satisfies Record<keyof AgentOptions, Rules[string]>;

/** A named tool that no model is shown would be an error of every provider. */
const checkToolChoice = (choice: ToolChoice | undefined, names: readonly string[], where: string): void => {
  if (typeof choice !== 'object' || names.includes(choice.tool)) return;
  throw new AgentError(
    'invalid-option',
    `${where}: option "toolChoice" names ${show(choice.tool)}, which is none of the agent's tools; its tools: ${names.join(', ') || 'none'}`,
  );
};

const namesOf = (tools: AgentOptions['tools'] = []): string[] =>
  tools.flatMap((tool: unknown) => (isPlainObject(tool) && typeof tool['name'] === 'string' ? [tool['name']] : []));

/** R1: what is out of bounds is refused when the agent is created, with the setting, the value and the bound. */
export const checkOptions = (given: AgentOptions): void => {
  if (!isPlainObject(given)) {
    throw new AgentError('invalid-option', `createAgent: needs an options object, got ${show(given)}`);
  }
  if (given.model === undefined) {
    throw new AgentError('invalid-option', `createAgent: option "model" is missing; it must be ${isModel.says}`);
  }
  checkGiven(given, options, 'createAgent');
  checkToolChoice(given.toolChoice, namesOf(given.tools), 'createAgent');
};

const metadata: Bound = {
  says: 'an object whose values are strings',
  holds: (value) => isPlainObject(value) && Object.values(value).every((item) => typeof item === 'string'),
};

const sessionId: Bound = {
  says: 'a string of 1 to 1,000 characters, without NUL and without half a surrogate pair',
  holds: isSessionId,
};

export const checkSessionId = (given: unknown, where: string): void =>
  checkOne(given, sessionId, `${where}: the session id`);

const anything: Bound = { says: 'anything', holds: () => true };

const openOptions = {
  context: anything,
  inspect: inspector,
} satisfies Record<keyof OpenOptions, Bound>;

export const runOptions = {
  ...openOptions,
  session: either(sessionId, isObject),
  signal: {
    says: 'an AbortSignal',
    holds: (value) => typeof value === 'object' && value !== null && 'addEventListener' in value,
  },
  model: isModel,
  limits,
  toolChoice,
  settings,
  metadata,
} satisfies Record<keyof RunOptions, Rules[string]>;

/** The same for what a caller sets for one turn. */
export const checkRunOptions = (given: RunOptions, tools: AgentOptions['tools']): void => {
  checkGiven(given, runOptions, 'run');
  checkToolChoice(given.toolChoice, namesOf(tools), 'run');
};

/** `stream` takes what `run` takes, and one more. */
export const checkStreamOptions = (given: StreamOptions, tools: AgentOptions['tools']): void => {
  const { onLeave, ...rest } = isPlainObject(given) ? given : {};
  if (onLeave !== undefined) checkOne(onLeave, oneOf('stop', 'detach'), 'stream: option "onLeave"');
  checkRunOptions(isPlainObject(given) ? rest : given, tools);
};

const storedOpenOptions = {
  ...openOptions,
  readOnly: isA('boolean'),
  at: integer(1),
} satisfies Record<keyof StoredOpenOptions, Bound>;

export const checkOpenOptions = (given: StoredOpenOptions): void => checkGiven(given, storedOpenOptions, 'open');

export const checkRestoreOptions = (given: OpenOptions): void => checkGiven(given, openOptions, 'restore');

const sendOptions = { mode: oneOf('queue', 'steer') };

export const checkSendOptions = (given: { mode?: 'queue' | 'steer' }): void => checkGiven(given, sendOptions, 'send');

const eventsOptions = { from: oneOf('now', 'turn') } satisfies Record<keyof EventsOptions, Bound>;

export const checkEventsOptions = (given: EventsOptions = {}): EventsOptions => {
  checkGiven(given, eventsOptions, 'events');
  return { ...given };
};

// One that is not there is `unknown-revision`.
const forkOptions = {
  at: { says: 'a number', holds: (value) => typeof value === 'number' },
  id: sessionId,
} satisfies Record<keyof ForkOptions, Bound>;

export const checkForkOptions = (given: ForkOptions = {}): ForkOptions => {
  checkGiven(given, forkOptions, 'fork');
  return { ...given };
};

/** `unknown-call`, as for every id that is none of the session's calls. */
export const checkCallId = (given: unknown, where: string): void => {
  if (typeof given === 'string') return;
  throw new AgentError('unknown-call', `${where}: the call id must be a string, got ${show(given)}`);
};

export const checkStopReason = (given: string | undefined): void => {
  if (given !== undefined) checkOne(given, isA('string'), 'stop: the reason');
};

// What they must be `tool()` says, which takes more than these.
const agentToolOptions = {
  name: anything,
  description: anything,
  inputSchema: anything,
  message: isA('function'),
  needsApproval: anything,
  sequential: anything,
  returnDirect: anything,
  maxResultChars: anything,
} satisfies Record<keyof AgentToolOptions, Bound>;

export const checkAgentToolOptions = (given: unknown): void => checkGiven(given, agentToolOptions, 'asTool');
