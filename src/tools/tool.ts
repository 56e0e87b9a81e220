import type { JsonObject } from '../messages/json.ts';
import type { Message, ToolOutput } from '../messages/message.ts';
import { checkInput, type InputCheck } from './check-input.ts';
import type { InputSchema, SchemaOutput } from './input-schema.ts';
import { inputJsonSchema } from './json-schema.ts';
import { checkToolOptions } from './tool-options.ts';
import { createValidator } from './validator.ts';

export type { InputCheck } from './check-input.ts';
export type { InputIssue } from './input-issues.ts';

/**
 * What a tool is told about its call. `callIndex` and `callCount` place it in its round; `attempt` starts at 1 and grows with
 * retries, `idempotencyKey` stays the same over all of them and over restarts. A tool that waits for its own session (`settled()`,
 * `run()` in it, the end of a turn that it sent there) waits for itself, until its timeout.
 *
 * `Context` is what the application gives to its turns: annotate `ctx` with it. Nobody compares it with what is given: say so in one place.
 */
export interface ToolContext<Context = unknown> {
  callId: string;
  sessionId: string;
  idempotencyKey: string;
  attempt: number;
  iteration: number;
  callIndex: number;
  callCount: number;
  messages: readonly Message[];
  /** What the application gave to this turn; never stored. */
  context: Context;
  /** What is kept with the turn, also over a restart: see `metadata` of `run`. Empty where there is none. */
  metadata: Readonly<Record<string, string>>;
  /** Aborts on stop, cancel and timeout. */
  signal: AbortSignal;
  /** Shows a value while the tool runs. */
  progress(value: unknown): void;
  /** No further model call after this round. */
  endTurn(): void;
  /** The tools of this turn, as the next model call sees them; the running round is not touched. */
  tools: ToolList;
}

/** Changes the tools of the turn under way. A tool that is added is live: after a restart it is gone, an own tool added by name is not. */
export interface ToolList {
  /** Adds a tool, or replaces the one of its name. A name brings one of the agent's own tools (an extra one, or one that was removed). */
  add(tool: Tool | string): void;
  remove(name: string): void;
  clear(): void;
}

export interface ApprovalContext<Context = unknown> {
  callId: string;
  sessionId: string;
  messages: readonly Message[];
  context: Context;
}

/** What running the tool again does. Neither: a call that was cut off by a crash is reported, not repeated. */
export interface ToolAnnotations {
  readOnly?: boolean;
  idempotent?: boolean;
  destructive?: boolean;
}

export interface ToolRetry {
  /** Tries in all. Default 3. */
  attempts?: number;
  /** ms before the second try. Default 500; doubles up to `maxDelay`. */
  initialDelay?: number;
  /** ms. Default 30,000. */
  maxDelay?: number;
  /** Which errors are worth another try. Default: all. */
  when?: (error: unknown) => boolean;
}

/** An agent as a tool: its chart, and what it is asked for a call's checked input. */
export interface DelegateAgent {
  readonly machine: object;
  readonly messageOf: (input: unknown) => string;
}

/**
 * A tool as the agent holds it: made by `tool()`, which checks it once. The functions take and give `unknown`, so that tools of
 * all input types stand in one list.
 */
export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  /** Sent to the model. Root is an object. */
  readonly inputSchema: JsonObject;
  /** Never throws, never rejects. */
  readonly checkInput: (input: unknown) => InputCheck | Promise<InputCheck>;
  /** Absent: the application answers the call. */
  readonly execute: ((input: unknown, ctx: ToolContext) => unknown) | undefined;
  readonly needsApproval: boolean | ((input: unknown, ctx: ApprovalContext) => boolean | Promise<boolean>);
  /** ms for one attempt. */
  readonly timeout: number | undefined;
  readonly retry: Required<Omit<ToolRetry, 'when'>> & Pick<ToolRetry, 'when'>;
  readonly sequential: boolean;
  readonly returnDirect: boolean;
  /** Left out where rounds are compared to find a loop. */
  readonly polling: boolean;
  readonly annotations: ToolAnnotations;
  readonly onInterrupted: 'report' | 'retry' | 'ask';
  /** Characters of a result that the model reads; the rest is cut and the text says so. Default 100,000. */
  readonly maxResultChars: number;
  /** The tool is an agent: a call of it is answered by a turn of that agent, inside the call. */
  readonly agent?: DelegateAgent;
  readonly toModelOutput: ((output: unknown) => ToolOutput) | undefined;
}

/** What `tool()` takes. `S` is the schema, `Result` what `execute` gives in the end, `Context` what the application gives to its turns. */
export interface ToolOptions<S extends InputSchema = InputSchema, Result = unknown, Context = unknown> {
  /** 1 to 64 of the characters a-z, A-Z, 0-9, _ and -. */
  name: string;
  /** Tells the model what the tool does and when to use it. */
  description?: string;
  /** A schema whose root is an object: zod 4, another Standard Schema that gives a JSON schema, or `{ jsonSchema, validate? }`. */
  inputSchema: S;
  /** Gets the checked input. Absent: the application answers the call. Of an `AsyncIterable` the last value is the result. */
  execute?: (input: SchemaOutput<S>, ctx: ToolContext<Context>) => Result | Promise<Result> | AsyncIterable<Result>;
  /** Default false. A function that throws counts as true. */
  needsApproval?: boolean | ((input: SchemaOutput<S>, ctx: ApprovalContext<Context>) => boolean | Promise<boolean>);
  /** ms for one attempt, above 0. Default: none. */
  timeout?: number;
  /** Default: one attempt. */
  retry?: ToolRetry;
  /** Starts when all calls before it are settled, and later ones wait for it. Default false. */
  sequential?: boolean;
  /** The result is the answer of the turn. Default false. */
  returnDirect?: boolean;
  /** It is right to call it again and again with the same arguments: it does not count as a loop. Default false. */
  polling?: boolean;
  annotations?: ToolAnnotations;
  /** What becomes of a call that a crash cut off, of a tool neither `readOnly` nor `idempotent`. Default `'report'`. */
  onInterrupted?: 'report' | 'retry' | 'ask';
  /** Integer of at least 1. Default 100,000. */
  maxResultChars?: number;
  /** What the model reads of a result, in place of the rules of `toToolOutput`. Synchronous; a throw is a failure of the call. */
  toModelOutput?: (output: Awaited<Result>) => ToolOutput;
}

const retryOf = (retry: ToolRetry | undefined): Tool['retry'] => ({
  attempts: retry === undefined ? 1 : (retry.attempts ?? 3),
  initialDelay: retry?.initialDelay ?? 500,
  maxDelay: retry?.maxDelay ?? 30_000,
  ...(retry?.when === undefined ? {} : { when: retry.when }),
});

/**
 * A tool, checked once and frozen. Throws `AgentError`: `invalid-tool` for an option that is unknown, missing or out of bounds,
 * `invalid-schema` where the schema has no JSON schema form or its root is not an object. The message names the tool and the
 * place. Nothing that is given is changed.
 *
 * ```ts
 * const weather = tool({
 *   name: 'weather',
 *   description: 'The weather of a city, now',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }) => fetchWeather(city),
 * });
 * ```
 */
export const tool = <S extends InputSchema, Result = unknown, Context = unknown>(
  options: ToolOptions<S, Result, Context>,
): Tool => {
  checkToolOptions(options);
  const inputSchema = inputJsonSchema(options.name, options.inputSchema);
  const validate = createValidator(options.inputSchema);
  return Object.freeze<Tool>({
    name: options.name,
    description: options.description,
    inputSchema,
    checkInput: (input) => checkInput(validate, input),
    // The functions get what `checkInput` gave, and `toModelOutput` what `execute` gave: the casts forget only that.
    execute: options.execute as Tool['execute'],
    needsApproval: (options.needsApproval ?? false) as Tool['needsApproval'],
    timeout: options.timeout,
    retry: Object.freeze(retryOf(options.retry)),
    sequential: options.sequential ?? false,
    returnDirect: options.returnDirect ?? false,
    polling: options.polling ?? false,
    annotations: Object.freeze({ ...options.annotations }),
    onInterrupted: options.onInterrupted ?? 'report',
    maxResultChars: options.maxResultChars ?? 100_000,
    toModelOutput: options.toModelOutput as Tool['toModelOutput'],
  });
};
