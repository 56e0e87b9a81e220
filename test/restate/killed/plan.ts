import type { ToolAnnotations } from '../../../src/index.ts';

/** One tool of each kind, and one kind twice: what is run twice by mistake is most likely to be seen there. */
export const toolNames = ['reads', 'repeats', 'pays', 'sends'] as const;
export type ToolName = (typeof toolNames)[number];

export const annotationsOf: Record<ToolName, ToolAnnotations> = {
  reads: { readOnly: true },
  repeats: { idempotent: true },
  pays: {},
  sends: {},
};

/** What a worker did, in the order in which all of them did it. */
export type Noted =
  /** `results`: tool messages in what the model was sent; 0 or 1. */
  | { type: 'asked'; sessionId: string; reply: string; results: number }
  | { type: 'begun'; sessionId: string; callId: string; tool: ToolName }
  | { type: 'ended'; sessionId: string; callId: string; tool: ToolName };
