import type { JsonObject } from '../messages/json.ts';
import type { AssistantMessage, Message } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';

/** `{ tool }` names one tool that the model must call. */
export type ToolChoice = 'auto' | 'required' | 'none' | { tool: string };

/** A tool as a model sees it. `inputSchema` is a JSON schema whose root is an object. */
export interface ToolDefinition {
  name: string;
  description?: string;
  inputSchema: JsonObject;
}

/** Sampling and length; an adapter maps what its provider knows. `providerOptions` go into the request body as they are. */
export interface ModelSettings {
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  seed?: number;
  stopSequences?: string[];
  parallelToolCalls?: boolean;
  providerOptions?: JsonObject;
}

export interface ModelRequest {
  /** A history that providers accept: every call is followed by its result, ids are the provider's own and distinct. */
  messages: readonly Message[];
  /** Becomes the one system message, in front of all others. */
  instructions?: string;
  /** Absent where there are none; never an empty list. */
  tools?: readonly ToolDefinition[];
  toolChoice?: ToolChoice;
  /** Ask for an answer of this JSON schema, where the adapter `canOutput`. */
  output?: { name: string; schema: JsonObject };
  settings?: ModelSettings;
}

export const finishReasons = ['stop', 'tool-calls', 'length', 'content-filter', 'other'] as const;
export type FinishReason = (typeof finishReasons)[number];

export interface ModelReply {
  /** Call ids are the provider's; `''` where it gave none. */
  message: AssistantMessage;
  finishReason: FinishReason;
  /** The provider declined to answer, and what it said. */
  refusal?: string;
  usage?: Usage;
  /** The model that answered, as the provider names it. */
  model?: string;
}

/** What a stream yields. The last chunk is `finish`, with the whole reply; a stream that ends without it is broken. */
export type ModelChunk =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string }
  /** `index` tells parallel calls of one reply apart. */
  | { type: 'tool-input-delta'; index: number; toolName: string; text: string }
  | { type: 'finish'; reply: ModelReply };

/** What comes with a request and is not part of it. */
export interface ModelCallOptions {
  signal: AbortSignal;
  /** The session whose turn asks; absent where a model is asked outside of one. */
  sessionId?: string;
  /** What is kept with the turn. */
  metadata?: Readonly<Record<string, string>>;
}

/**
 * A model to talk to. Both methods throw `ModelError` for what a provider or the network did; anything else that they throw
 * counts as an error that will not pass. Both stop at once when `signal` aborts.
 */
export interface ChatModel {
  name: string;
  /** Whose wire format it speaks, by OpenTelemetry's names: `openai`, `anthropic`. */
  provider?: string;
  /** The provider can be held to a JSON schema by `request.output` (default false). */
  canOutput?: boolean;
  /** The provider needs the tool list whenever the history holds calls, also when none may be called (default false). */
  needsTools?: boolean;
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
  stream?(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk>;
}
