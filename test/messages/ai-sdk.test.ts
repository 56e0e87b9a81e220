import type * as Ai from 'ai';
import { modelMessageSchema } from 'ai';
import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';
import { checkMessages } from '../../src/messages/check-message.ts';
import type {
  AssistantMessage,
  FilePart,
  Message,
  ReasoningPart,
  SystemMessage,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolOutput,
  ToolResultPart,
  UserMessage,
} from '../../src/messages/message.ts';
import { viewOf } from '../../src/messages/view.ts';
import { anyMessages } from './arbitrary-history.ts';

type AiReasoningPart = Extract<Exclude<Ai.AssistantContent, string>[number], { type: 'reasoning' }>;
type JsonOutput = Extract<
  Ai.ToolResultPart['output'],
  { type: 'text' | 'json' | 'error-text' | 'error-json' | 'execution-denied' }
>;

test('our messages are messages of the AI SDK 7', () => {
  expectTypeOf<Message>().toExtend<Ai.ModelMessage>();
  expectTypeOf<SystemMessage>().toExtend<Ai.SystemModelMessage>();
  expectTypeOf<UserMessage>().toExtend<Ai.UserModelMessage>();
  expectTypeOf<AssistantMessage>().toExtend<Ai.AssistantModelMessage>();
  expectTypeOf<ToolMessage>().toExtend<Ai.ToolModelMessage>();
});

test('parts of the AI SDK in their JSON form are parts of ours', () => {
  expectTypeOf<Ai.TextPart>().toExtend<TextPart>();
  expectTypeOf<AiReasoningPart>().toExtend<ReasoningPart>();
  expectTypeOf<Ai.ToolCallPart>().toExtend<ToolCallPart>();
  expectTypeOf<JsonOutput>().toExtend<ToolOutput>();
  expectTypeOf<Ai.ToolResultPart & { output: JsonOutput }>().toExtend<ToolResultPart>();
  expectTypeOf<Ai.FilePart & { data: string }>().toExtend<FilePart>();
  expectTypeOf<Ai.SystemModelMessage>().toExtend<SystemMessage>();
});

const full: Message[] = [
  { role: 'system', content: 's', providerOptions: { x: { y: null } } },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'a' },
      { type: 'file', data: 'aGk=', mediaType: 'image/png' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', providerOptions: { google: { thoughtSignature: 's' } } },
      {
        type: 'tool-call',
        toolCallId: 'o1',
        toolName: 'read',
        input: { a: [1] },
        providerExecuted: false,
        providerOptions: { agentchart: { providerCallId: 'p1', originalInput: { a: 1 } } },
      },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'text' as const, value: 'ok' },
      { type: 'json' as const, value: { a: [null] } },
      { type: 'error-text' as const, value: 'no' },
      { type: 'error-json' as const, value: 1 },
      { type: 'execution-denied' as const, reason: 'no' },
      { type: 'content' as const, value: [{ type: 'image-data' as const, data: 'aGk=', mediaType: 'image/png' }] },
    ].map((output) => ({ type: 'tool-result', toolCallId: 'o1', toolName: 'read', output })),
    providerOptions: { x: {} },
  },
];

test('the schema of the AI SDK takes our messages and strips nothing from them', () => {
  for (const message of [...full, ...viewOf(full)]) expect(modelMessageSchema.parse(message)).toEqual(message);
  expect(checkMessages(full)).toEqual(full);
});

test('whatever our types allow, the AI SDK takes', () => {
  fc.assert(
    fc.property(anyMessages, (messages) => {
      for (const message of messages) expect(modelMessageSchema.safeParse(message).success).toBe(true);
    }),
    { numRuns: 300 },
  );
});
