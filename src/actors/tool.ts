import type { AnyActorRef } from 'xstate';
import { AgentError, errorData, isInstance } from '../errors.ts';
import { copyJson, isJson, type JsonValue } from '../messages/json.ts';
import { showMessages } from '../messages/show-messages.ts';
import type { Message, ToolOutput } from '../messages/message.ts';
import {
  type CallResult,
  type CallSpec,
  type ToolChange,
  leftBehind,
  notStarted,
  ownTool,
  textResult,
} from '../tools/call.ts';
import type { InputCheck, Tool, ToolContext } from '../tools/tool.ts';
import { inputHash } from '../tools/input-hash.ts';
import { isAsyncIterable, lastOf } from '../tools/last-value.ts';
import type { RunTool } from '../tools/tool-middleware.ts';
import { isTool } from '../tools/tool-registry.ts';
import type { ToolFinder } from '../tools/tool-finder.ts';
import { toPlainJson } from '../tools/plain-json.ts';
import { failureOutput } from '../tools/failure-output.ts';
import { toToolOutput } from '../tools/tool-output.ts';
import { invalidInputOutput, unknownToolOutput, unrunnable } from '../tools/unrunnable.ts';
import type { Clock } from './alarm.ts';
import type { Question } from './check.ts';
import { type EffectLogic, type EffectScope, fromEffect } from './effect.ts';
import { hostOf } from './host.ts';
import { metadataOf } from './metadata-of.ts';

export interface ToolInput {
  call: CallSpec;
  sessionId: string;
  input: unknown;
  /** False: `input` is what the model gave, and its checked form was not plain JSON. */
  isChecked: boolean;
  attempt: number;
  /** What `input` was made of, where somebody was asked first: its tool may have come to take other arguments since. */
  asked?: unknown;
}

export type ToolOutcome =
  | { type: 'result'; result: CallResult; isRetryable: boolean }
  /** A crash cut the call off and its tool wants a human to decide (R38). */
  | { type: 'ask'; question: Question };

export type ToolLogic = EffectLogic<ToolOutcome, ToolInput>;

export interface ToolOptions {
  tools: ToolFinder;
  /** Brings back the tools that context providers gave to the call's turn before a restore; undefined where none is missing. */
  findTools(callActor: AnyActorRef): Promise<unknown> | undefined;
  detailedErrors: boolean;
  /** Runs a tool with all that stands around it. */
  run: RunTool;
  clock: Clock;
  messagesOf(callActor: AnyActorRef): readonly Message[];
}

const settled = (result: CallResult, isRetryable = false): ToolOutcome => ({ type: 'result', result, isRetryable });

/** Rejects when the signal aborts, so that a tool that ignores it cannot hold its call. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

class TimedOut extends Error {
  override readonly name = 'TimeoutError';
}

/** A store that takes long does not hold up a stop. */
const unlessAborted = async (work: Promise<void> | undefined, signal: AbortSignal): Promise<void> => {
  if (work === undefined || signal.aborted) return;
  const stop = aborted(signal);
  stop.catch(() => undefined);
  await Promise.race([work, stop]);
};

const unknownOutcome = (): CallResult =>
  textResult('outcome-unknown', 'Error: the call was interrupted while it ran; whether it took effect is unknown.');

/** After a crash: what cannot be repeated safely is not repeated, unless its tool says so (R38). */
const interrupted = (tool: Tool, { call, input, isChecked }: ToolInput): ToolOutcome | undefined => {
  if (tool.annotations.readOnly === true || tool.annotations.idempotent === true || tool.onInterrupted === 'retry')
    return undefined;
  if (tool.onInterrupted === 'ask') {
    const question: Question = {
      inputHash: inputHash(input),
      isChecked,
      reason: 'interrupted: it may have run already',
    };
    return { type: 'ask', question: input === call.input ? question : { ...question, input: input as JsonValue } };
  }
  return settled(unknownOutcome());
};

/** The call was told to stop before the session was saved: it has nothing to begin again. */
const isStopping = (call: AnyActorRef): boolean =>
  (call.getSnapshot() as { context: { stopping?: unknown } }).context.stopping !== undefined;

const failed = (tool: Tool, error: unknown, detailed: boolean, output?: ToolOutput): ToolOutcome => {
  let isRetryable = true;
  try {
    isRetryable = tool.retry.when?.(error) ?? true;
  } catch {
    isRetryable = false;
  }
  return settled(
    { status: 'failed', output: output ?? failureOutput(error, { detailed }), error: errorData(error) },
    isRetryable,
  );
};

const execute = async (
  tool: Tool,
  input: unknown,
  { input: { call, sessionId, attempt }, parent, signal }: EffectScope<ToolInput>,
  { detailedErrors, clock, messagesOf, tools, run }: ToolOptions,
): Promise<ToolOutcome> => {
  const host = hostOf(parent as AnyActorRef);
  const timeout = new AbortController();
  const timer =
    tool.timeout === undefined ? undefined : clock.setTimeout(() => timeout.abort(new TimedOut()), tool.timeout);
  const both = tool.timeout === undefined ? signal : AbortSignal.any([signal, timeout.signal]);
  // A call that is stopped has its grace, or nobody waits for it any more: no timer is to outlive it.
  if (timer !== undefined) signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true });
  let endTurn = false;
  const toolChanges: ToolChange[] = [];
  const refuse = (problem: string): never => {
    throw new AgentError('invalid-tool', problem);
  };
  const refuseFixed = (name: string): void => {
    if (tools.fixed !== undefined && name === tools.fixed) {
      refuse(`"${name}" gives the structured answer: it is not to be replaced or taken away`);
    }
  };
  const show = (value: unknown): void => {
    if (host.audience.hasReaders()) {
      const shown = isJson(value) ? value : toPlainJson(value);
      host.audience.publish({ type: 'tool-progress', callId: call.callId, tool: call.tool, value: shown });
    }
  };
  const about: Omit<ToolContext, 'messages'> = {
    callId: call.callId,
    sessionId,
    idempotencyKey: `${sessionId}:${call.callId}`,
    attempt,
    iteration: call.iteration,
    callIndex: call.index,
    callCount: call.count,
    context: host.context(),
    metadata: metadataOf(parent as AnyActorRef),
    signal: both,
    progress: show,
    endTurn: () => {
      endTurn = true;
    },
    tools: {
      add: (added) => {
        if (typeof added === 'string') {
          if (tools.find({ tool: added }) === undefined)
            refuse(`ctx.tools.add: "${added}" is no tool of this agent, neither in tools nor in extraTools`);
          toolChanges.push({ name: added, toolKey: ownTool });
          return;
        }
        if (!isTool(added)) refuse('ctx.tools.add takes what tool() makes, or the name of a tool of this agent');
        refuseFixed(added.name);
        if (added.agent !== undefined)
          refuse(
            `an agent cannot be added while a turn runs: give "${added.name}" in extraTools and add it by its name`,
          );
        const toolKey = `${sessionId}:${call.callId}:${toolChanges.length}`;
        tools.keep(toolKey, added);
        toolChanges.push({ name: added.name, toolKey });
      },
      remove: (name) => {
        refuseFixed(name);
        toolChanges.push({ name });
      },
      clear: () => {
        toolChanges.push({ name: '*' });
        if (tools.fixed !== undefined) toolChanges.push({ name: tools.fixed, toolKey: ownTool });
      },
    },
  };
  const ctx: ToolContext = showMessages(about, () => messagesOf(parent as AnyActorRef));
  try {
    const work = (async () => {
      const value = await run({ tool, input, ctx });
      return isAsyncIterable(value) ? lastOf(value, show, both) : value;
    })();
    const value = await (tool.timeout === undefined ? work : Promise.race([work, aborted(timeout.signal)]));
    const returned = toToolOutput(value, tool);
    if (returned.error === undefined) {
      return settled({
        status: 'ok',
        output: returned.output,
        ...(endTurn ? { endTurn } : {}),
        ...(toolChanges.length === 0 ? {} : { toolChanges }),
      });
    }
    return failed(tool, returned.error, detailedErrors, returned.output);
  } catch (error) {
    if (signal.aborted) return settled(leftBehind('stopped'));
    if (isInstance(error, TimedOut)) {
      const text = `Error: the tool timed out after ${tool.timeout} ms.`;
      return settled(textResult('timed-out', text, { name: 'TimeoutError', message: text, code: 'timed-out' }), true);
    }
    return failed(tool, error, detailedErrors);
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
  }
};

/** Runs one tool once. Whatever the tool does, the outcome is a value. */
export const createToolLogic = (options: ToolOptions): ToolLogic =>
  fromEffect<ToolOutcome, ToolInput>(async (scope) => {
    const { input: given, parent, signal, isRestored } = scope;
    // Who cannot be asked for his tools now has none; the next model call tells.
    const finding = parent === undefined ? undefined : options.findTools(parent);
    if (finding !== undefined) await finding.catch(() => undefined);
    const tool = options.tools.find(given.call);
    // A tool of the agent's own that a new version has no more: nobody is left who could say what it has done.
    if (tool === undefined && isRestored && given.call.toolKey === undefined) return settled(unknownOutcome());
    if (tool === undefined || parent === undefined) {
      return settled(unrunnable(unknownToolOutput(given.call.tool, options.tools.names([])), 'unknown-tool'));
    }
    const isAsIs = given.isChecked && given.asked === undefined;
    const checking: InputCheck | Promise<InputCheck> = isAsIs
      ? { ok: true, value: given.input }
      : tool.checkInput(given.isChecked ? given.asked : given.input);
    const check = checking instanceof Promise ? await checking : checking;
    if (!check.ok) return settled(unrunnable(invalidInputOutput(tool.name, check.issues), 'invalid-input'));
    if (isRestored) {
      const outcome = interrupted(tool, given);
      if (outcome !== undefined) return outcome;
      if (isStopping(parent)) return settled(leftBehind('stopped'));
    }
    try {
      await unlessAborted(hostOf(parent).barrier(), signal);
    } catch (error) {
      if (signal.aborted) return settled(notStarted);
      return settled(
        textResult('failed', 'Error: the call was not started: its session could not be stored.', errorData(error)),
      );
    }
    if (signal.aborted) return settled(notStarted);
    // What somebody decided on runs exactly as it was shown; a copy, for a tool that changes its input may run again.
    return execute(tool, given.isChecked ? copyJson(given.input) : check.value, scope, options);
  });
