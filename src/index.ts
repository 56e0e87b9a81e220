// The root exports are a list on purpose: at most 20 values; what is special stands behind a subpath.
export { AgentError } from './errors.ts';
export type { AgentErrorCode, ErrorData } from './errors.ts';
export { createAgent } from './sessions/create-agent.ts';
export type { Agent, OpenOptions, RunOptions, RunStream, StoredOpenOptions } from './sessions/agent.ts';
export type {
  AgentOptions,
  ApprovalOptions,
  Authorize,
  DecisionRequest,
  StopContext,
  TurnContext,
} from './sessions/agent-options.ts';
export type { AgentMiddleware, RunTurn, TurnRun } from './sessions/agent-middleware.ts';
export type {
  BeginningTurn,
  ContextProvider,
  EndedTurn,
  HistoryProvider,
  NewMessages,
  ProvidedContext,
} from './sessions/context-provider.ts';
export type { AgentEvent, TransitionEvent } from './sessions/agent-event.ts';
export type { AgentToolOptions } from './sessions/agent-tool.ts';
export type { SessionDocument } from './documents/document.ts';
export { memoryStore } from './stores/memory-store.ts';
export type {
  ApproveOptions,
  DecisionOptions,
  Inspector,
  RejectOptions,
  RunResult,
  Session,
  SessionStatus,
} from './sessions/session.ts';
export { SessionConflictError } from './stores/session-conflict.ts';
export type {
  Command,
  Commit,
  HistoryEntry,
  ListOptions,
  Refusal,
  RefusedCommand,
  SessionStore,
  SessionSummary,
  StoredSession,
  Transition,
} from './stores/store.ts';
export { commandOutcome } from './stores/command-outcome.ts';
export type { CommandOutcome } from './stores/command-outcome.ts';
export { exportSession, importSession } from './sessions/transfer.ts';
export { TurnError } from './sessions/turn-error.ts';

export { pendingOf } from './machines/round.ts';
export type { AgentMachine } from './machines/agent.ts';
export type { AgentContext, AgentInput, Decision, ModelCall, OutsideEvent } from './machines/agent-context.ts';
export type { ChartEvent, Fate } from './machines/chart-event.ts';
export type { RetryRules } from './machines/rules.ts';
export type { Limits, LimitName, Outcome, TurnMetadata, TurnOptions } from './machines/turn.ts';
export type { TurnResult } from './machines/turn-result.ts';

export { answerCall } from './tools/answer-call.ts';
export type { AnswerCallOptions } from './tools/answer-call.ts';
export { tool } from './tools/tool.ts';
export type {
  ApprovalContext,
  Tool,
  ToolAnnotations,
  ToolContext,
  ToolList,
  ToolOptions,
  ToolRetry,
} from './tools/tool.ts';
export type { InputSchema, JsonSchemaInput, StandardSchema } from './tools/input-schema.ts';
export type { CallNeeds, CallResult, CallStatus, PendingCall } from './tools/call.ts';

export type { ApprovalPolicy, PolicyCall, Verdict } from './actors/check.ts';
export type { Clock } from './actors/alarm.ts';
export type { DeltaEvent } from './actors/delta-event.ts';

export type {
  ChatModel,
  FinishReason,
  ModelCallOptions,
  ModelChunk,
  ModelReply,
  ModelRequest,
  ModelSettings,
  ToolChoice,
  ToolDefinition,
} from './models/chat-model.ts';
export type { Compacted, Compaction, CompactionCall, CompactionRequest } from './models/compaction.ts';
export type { ModelMiddleware } from './models/model-middleware.ts';
export type { RunTool, ToolMiddleware, ToolRun } from './tools/tool-middleware.ts';
export { ModelError } from './models/model-error.ts';

export { callsOf, textOf } from './messages/message.ts';
export type {
  AssistantMessage,
  FilePart,
  Message,
  Part,
  ProviderOptions,
  ReasoningPart,
  SystemMessage,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolOutput,
  ToolResultPart,
  UserMessage,
} from './messages/message.ts';
export type { JsonObject, JsonValue } from './messages/json.ts';
export type { Usage } from './messages/usage.ts';
