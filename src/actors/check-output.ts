import type { AnyActorRef } from 'xstate';
import type { JsonValue } from '../messages/json.ts';
import type { Tool } from '../tools/tool.ts';
import { type EffectLogic, fromEffect } from './effect.ts';

export interface OutputInput {
  sessionId: string;
}

export type OutputCheck = { type: 'fits'; output: JsonValue } | { type: 'unfit'; issues: string[] };

export type OutputLogic = EffectLogic<OutputCheck, OutputInput>;

/** Checks the text of a reply against the schema of the answer. `text` reads it from the agent above. */
export const createOutputLogic = (answer: Tool | undefined, text: (agent: AnyActorRef) => string): OutputLogic =>
  fromEffect<OutputCheck, OutputInput>(async ({ parent }) => {
    if (answer === undefined || parent === undefined) return { type: 'unfit', issues: ['there is no schema'] };
    const raw = text(parent);
    const check = await answer.checkInput(raw);
    if (check.ok) return { type: 'fits', output: raw.trim() === '' ? {} : (JSON.parse(raw) as JsonValue) };
    return {
      type: 'unfit',
      issues: check.issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)),
    };
  });
