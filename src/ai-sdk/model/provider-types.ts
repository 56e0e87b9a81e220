import type { LanguageModel } from 'ai';

/** A model as the providers of the AI SDK 7 give it. Told through `ai`, so that users need no second package for its types. */
export type LanguageModelV4 = Extract<Exclude<LanguageModel, string>, { specificationVersion: 'v4' }>;

/** The same, or one of an earlier version that the AI SDK 7 takes as well. */
export type AnyLanguageModel = Exclude<LanguageModel, string>;

export type CallOptions = Parameters<LanguageModelV4['doGenerate']>[0];
export type ProviderToolChoice = NonNullable<CallOptions['toolChoice']>;
export type SentTool = NonNullable<CallOptions['tools']>[number];
export type Prompt = CallOptions['prompt'];
export type PromptMessage = Prompt[number];

type PartsFor<Role extends PromptMessage['role']> = Extract<PromptMessage, { role: Role }>['content'];
export type UserPart = Exclude<PartsFor<'user'>, string>[number];
export type AssistantPart = Exclude<PartsFor<'assistant'>, string>[number];
export type SentOutput = Extract<AssistantPart, { type: 'tool-result' }>['output'];
export type SentFileData = Extract<UserPart, { type: 'file' }>['data'];

export type GenerateResult = Awaited<ReturnType<LanguageModelV4['doGenerate']>>;
export type Content = GenerateResult['content'][number];
export type ProviderMetadata = NonNullable<Extract<Content, { type: 'text' }>['providerMetadata']>;
export type GivenFinishReason = GenerateResult['finishReason'];
export type GivenUsage = GenerateResult['usage'];
export type Warnings = GenerateResult['warnings'];

type StreamOf<Result> = Result extends { stream: ReadableStream<infer Part> } ? Part : never;
export type StreamPart = StreamOf<Awaited<ReturnType<LanguageModelV4['doStream']>>>;
