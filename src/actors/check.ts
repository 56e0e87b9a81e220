import type { AnyActorRef } from 'xstate';
import { type JsonValue, canonicalJson, isJson, copyJson } from '../messages/json.ts';
import { showMessages } from '../messages/show-messages.ts';
import type { Message } from '../messages/message.ts';
import { type CallResult, type CallSpec, rejection } from '../tools/call.ts';
import type { ApprovalContext, Tool } from '../tools/tool.ts';
import { inputHash } from '../tools/input-hash.ts';
import type { ToolFinder } from '../tools/tool-finder.ts';
import { invalidInputOutput, invalidInputText, unknownToolOutput, unrunnable } from '../tools/unrunnable.ts';
import { type EffectLogic, fromEffect } from './effect.ts';
import { hostOf } from './host.ts';

export interface CheckInput {
  call: CallSpec;
  sessionId: string;
  /** Somebody has decided already: nobody is asked. */
  isDecided: boolean;
  edit?: JsonValue;
}

/** What a human is asked. `input` only where it is not simply what the model gave. */
export interface Question {
  inputHash: string;
  input?: JsonValue;
  isChecked: boolean;
  reason?: string;
  refusedEdit?: string;
}

export type CheckOutcome =
  | { type: 'settled'; result: CallResult }
  | { type: 'ask'; question: Question }
  | { type: 'ready'; input: unknown; isChecked: boolean; inputHash: string };

export type CheckLogic = EffectLogic<CheckOutcome, CheckInput>;

export type Verdict = 'approve' | 'reject' | 'ask';

/** What a policy is told of a call; `input` is checked. */
export interface PolicyCall {
  callId: string;
  tool: string;
  input: unknown;
}

export type ApprovalPolicy = (
  call: PolicyCall,
  ctx: ApprovalContext,
) => Verdict | undefined | Promise<Verdict | undefined>;

export interface CheckOptions {
  tools: ToolFinder;
  /** Brings back the tools that context providers gave to the call's turn before a restore; undefined where none is missing. */
  findTools(callActor: AnyActorRef): Promise<unknown> | undefined;
  policy: ApprovalPolicy | undefined;
  /** What the session of this call remembers for it (R28). */
  remembered(
    callActor: AnyActorRef,
    tool: string,
    given: { asked: unknown; input: unknown },
  ): 'approve' | 'reject' | undefined;
  messagesOf(callActor: AnyActorRef): readonly Message[];
  /** The names that the model could call when it made this call. */
  namesFor(callActor: AnyActorRef): readonly string[];
}

const verdictOf = async (
  tool: Tool,
  input: unknown,
  { call, sessionId }: CheckInput,
  { policy, messagesOf }: CheckOptions,
  callActor: AnyActorRef,
): Promise<Verdict> => {
  const about = { callId: call.callId, sessionId, context: hostOf(callActor).context() };
  const ctx: ApprovalContext = showMessages(about, () => messagesOf(callActor));
  try {
    const verdict = await policy?.({ callId: call.callId, tool: tool.name, input }, ctx);
    if (verdict !== undefined) return verdict === 'approve' || verdict === 'reject' ? verdict : 'ask';
    const needed = typeof tool.needsApproval === 'function' ? await tool.needsApproval(input, ctx) : tool.needsApproval;
    return needed === false ? 'approve' : 'ask';
  } catch {
    return 'ask';
  }
};

/** Validates one call's arguments, then finds out whether a human must be asked (R17, R25). Never the other way round. */
export const createCheckLogic = (options: CheckOptions): CheckLogic =>
  fromEffect<CheckOutcome, CheckInput>(async ({ input: given, parent }) => {
    const { call, edit, isDecided } = given;
    // Who cannot be asked for his tools now has none; the next model call tells.
    const finding = parent === undefined ? undefined : options.findTools(parent);
    if (finding !== undefined) await finding.catch(() => undefined);
    const tool = options.tools.find(call);
    if (tool === undefined || parent === undefined) {
      const output = unknownToolOutput(call.tool, parent === undefined ? [] : options.namesFor(parent));
      return { type: 'settled', result: unrunnable(output, 'unknown-tool') };
    }
    const raw = edit === undefined ? call.input : edit;
    const checking = tool.checkInput(raw);
    const check = checking instanceof Promise ? await checking : checking;
    if (!check.ok) {
      if (edit !== undefined) {
        const refusedEdit = invalidInputText(call.tool, check.issues);
        return { type: 'ask', question: { inputHash: '', isChecked: false, refusedEdit } };
      }
      return { type: 'settled', result: unrunnable(invalidInputOutput(call.tool, check.issues), 'invalid-input') };
    }
    const isChecked = isJson(check.value);
    const input = isChecked ? check.value : raw;
    if (
      !isDecided &&
      // The structured answer is for the caller: nobody is asked whether it may be given.
      tool.name !== options.tools.fixed &&
      (tool.needsApproval !== false ||
        options.policy !== undefined ||
        options.remembered(parent, tool.name, { asked: raw, input }) !== undefined)
    ) {
      // Remembered by their JSON form: checked arguments may hold dates, bigints, maps.
      const known = options.remembered(parent, tool.name, { asked: raw, input });
      const verdict =
        known ?? (await verdictOf(tool, isChecked ? copyJson(check.value) : check.value, given, options, parent));
      if (verdict === 'reject') return { type: 'settled', result: rejection('declined by policy') };
      if (verdict === 'ask') {
        const question = { inputHash: inputHash(input), isChecked };
        const isAsGiven = canonicalJson(input) === canonicalJson(call.input);
        return { type: 'ask', question: isAsGiven ? question : { ...question, input: input as JsonValue } };
      }
    }
    return { type: 'ready', input, isChecked, inputHash: tool.execute === undefined ? inputHash(input) : '' };
  });
