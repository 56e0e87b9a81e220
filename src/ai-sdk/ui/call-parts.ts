import type { AgentEvent } from '../../sessions/agent-event.ts';
import { outputChunk } from './tool-output-chunk.ts';
import { type UIMessage, type UIMessageChunk, isToolPart } from './ui-types.ts';

type Of<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>;

/** What is kept with an approval on the page and comes back with the answer: it binds the answer to the arguments (R29). */
export interface ApprovalDescriptor {
  inputHash: string;
  /** ms since 1970. */
  expiresAt?: number;
}

/** The calls of one message as chunks. The id of an approval is the id of its call. */
export interface CallParts {
  called(event: Of<'tool-call'>): UIMessageChunk[];
  requested(event: Of<'approval-request'>): UIMessageChunk[];
  answered(event: Of<'approval-response'>): UIMessageChunk[];
  progressed(event: Of<'tool-progress'>): UIMessageChunk[];
  ended(event: Of<'tool-result'>): UIMessageChunk[];
  isShown(callId: string): boolean;
  show(callId: string): void;
}

/** `messages`: what the page shows already; undefined where that is not known. */
export const createCallParts = (messages: readonly UIMessage[] | undefined): CallParts => {
  const shown = new Set<string>();
  /** Calls of agents inside calls that wait for people, by id: they end when the call around them does. */
  const inside = new Set<string>();
  const asked = new Set<string>();
  const rejected = new Set<string>();
  const inputs = new Map<string, unknown>();
  for (const message of messages ?? []) {
    const isContinued = message === messages?.at(-1) && message.role === 'assistant';
    for (const part of message.parts.filter(isToolPart)) {
      inputs.set(part.toolCallId, part.input);
      if (!isContinued) continue;
      shown.add(part.toolCallId);
      if (part.approval !== undefined) asked.add(part.approval.id);
      if (part.state.startsWith('approval-') && part.toolCallId.includes('-')) inside.add(part.toolCallId);
    }
  }

  const inputChunk = (toolCallId: string, toolName: string, input: unknown): UIMessageChunk => {
    shown.add(toolCallId);
    return { type: 'tool-input-available', toolCallId, toolName, input };
  };
  const isOfSession = (callId: string): boolean => /^call_\d+_\d+$/.test(callId);
  /** A page refuses what belongs to a call that its message does not hold. */
  const ensure = (callId: string, tool: string): UIMessageChunk[] => {
    const isOnPage = shown.has(callId) || (messages === undefined && isOfSession(callId));
    return isOnPage ? [] : [inputChunk(callId, tool, inputs.get(callId) ?? {})];
  };
  const endInside = (callId: string): UIMessageChunk[] =>
    [...inside]
      .filter((id) => id.startsWith(`${callId}-`))
      .map((toolCallId) => {
        inside.delete(toolCallId);
        if (rejected.has(toolCallId)) return { type: 'tool-output-denied', toolCallId };
        // What came of it went to the agent inside; the call around it tells the outcome.
        return { type: 'tool-output-available', toolCallId, output: null };
      });

  return {
    called: ({ callId, tool, input }) => [inputChunk(callId, tool, input)],
    requested: ({ callId, tool, waiting }) => {
      const { needs, input, inputHash, reason, expiresAt } = waiting;
      if (!isOfSession(callId)) inside.add(callId);
      const changed = input === undefined ? ensure(callId, tool) : [inputChunk(callId, tool, input)];
      if (needs !== 'approval') return changed;
      asked.add(callId);
      const approvalDescriptor: ApprovalDescriptor = { inputHash, ...(expiresAt === undefined ? {} : { expiresAt }) };
      const why = reason === undefined ? {} : { reason };
      return [
        ...changed,
        { type: 'tool-approval-request', approvalId: callId, toolCallId: callId, approvalDescriptor, ...why },
      ];
    },
    answered: ({ callId, decision, reason }) => {
      if (decision === 'rejected') rejected.add(callId);
      if (!asked.has(callId)) return [];
      const approved = decision !== 'rejected';
      const why = reason === undefined ? {} : { reason };
      return [{ type: 'tool-approval-response', approvalId: callId, approved, ...why }];
    },
    progressed: ({ callId, tool, value }) =>
      shown.has(callId) || isOfSession(callId)
        ? [
            ...ensure(callId, tool),
            { type: 'tool-output-available', toolCallId: callId, output: value, preliminary: true },
          ]
        : [],
    ended: ({ callId, tool, result }) => {
      const last: UIMessageChunk =
        result.status === 'rejected' && rejected.has(callId)
          ? { type: 'tool-output-denied', toolCallId: callId }
          : outputChunk(callId, result);
      const ran = result.edited === undefined ? ensure(callId, tool) : [inputChunk(callId, tool, result.edited)];
      return [...endInside(callId), ...ran, last];
    },
    isShown: (callId) => shown.has(callId),
    show: (callId) => shown.add(callId),
  };
};
