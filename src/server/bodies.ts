import { z } from 'zod';
import { type JsonValue, isJson, maxDepth } from '../messages/json.ts';

const text = z.strictObject({ type: z.literal('text'), text: z.string() });
const file = z.strictObject({
  type: z.literal('file'),
  data: z.string(),
  mediaType: z.string(),
  filename: z.string().exactOptional(),
});

/** A client speaks as the user alone: other roles are the application's. */
export const messageBody = z.strictObject({
  message: z.union([z.string().min(1), z.array(z.discriminatedUnion('type', [text, file])).min(1)]),
  mode: z.enum(['queue', 'steer']).exactOptional(),
});
export type MessageBody = z.infer<typeof messageBody>;

/** `z.json()` walks as deep as it is led. */
const json = z.custom<JsonValue>((value) => isJson(value), `must be JSON of at most ${maxDepth} levels`);
const inputHash = z.string().min(1);
const remember = z.enum(['tool', 'input']).exactOptional();

/** `inputHash` is the pending call's: a decision holds for the arguments that were shown (R29). */
export const decisionBody = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('approve'), inputHash, input: json.exactOptional(), remember }),
  z.strictObject({ decision: z.literal('reject'), inputHash, reason: z.string().exactOptional(), remember }),
  z.strictObject({ decision: z.literal('respond'), inputHash, output: json }),
]);
export type DecisionBody = z.infer<typeof decisionBody>;

export const stopBody = z.strictObject({ reason: z.string().exactOptional() });

/** What `useChat` sends; it may send more. `edits` holds arguments to run in place of those that were shown, by approval id. */
export const chatBody = z.object({
  id: z.string().min(1),
  messages: z
    .array(
      z.looseObject({
        id: z.string(),
        role: z.enum(['system', 'user', 'assistant']),
        parts: z.array(z.looseObject({ type: z.string() })),
      }),
    )
    .min(1),
  trigger: z.literal('submit-message', 'a session keeps its history: there is no regenerate').exactOptional(),
  edits: z.record(z.string(), json).exactOptional(),
});
export type ChatBody = z.infer<typeof chatBody>;
