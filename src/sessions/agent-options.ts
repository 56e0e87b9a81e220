import type { Clock } from '../actors/alarm.ts';
import type { ApprovalPolicy } from '../actors/check.ts';
import type { RetryRules } from '../machines/rules.ts';
import type { Limits } from '../machines/turn.ts';
import type { Message } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';
import type { ModelMiddleware } from '../models/model-middleware.ts';
import type { ToolMiddleware } from '../tools/tool-middleware.ts';
import type { ChatModel, ModelSettings, ToolChoice } from '../models/chat-model.ts';
import type { Compaction } from '../models/compaction.ts';
import type { PendingCall } from '../tools/call.ts';
import type { InputSchema } from '../tools/input-schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { AgentMiddleware } from './agent-middleware.ts';
import type { SessionStore } from '../stores/store.ts';
import type { ContextProvider, HistoryProvider } from './context-provider.ts';

/** What `instructions` may look at when it is a function. */
export interface TurnContext {
  sessionId: string;
  messages: readonly Message[];
  /** What the application gave to this turn. */
  context: unknown;
  iteration: number;
}

/** What `stopWhen` is asked with, after every round. */
export interface StopContext {
  sessionId: string;
  /** Rounds of the turn so far. */
  iterations: number;
  /** Of the turn so far. */
  usage: Usage;
  messages: readonly Message[];
  context: unknown;
}

/** Who wants to decide what. */
export interface DecisionRequest {
  call: PendingCall;
  decision: 'approved' | 'rejected' | 'answered';
  by?: string;
}

/** Whether the one who wants to decide may; `context` is what the application gave to the turn. */
export type Authorize = (request: DecisionRequest, context: unknown) => boolean | Promise<boolean>;

export interface ApprovalOptions {
  /** `all`: no call of a round starts until all of its decisions are in. `gated`: only the gated calls wait. Default `all`. */
  hold?: 'all' | 'gated';
  /** Decides for every call; undefined leaves it to the tool's `needsApproval`. One that throws means `ask`. */
  policy?: ApprovalPolicy;
  /** Asked before every decision that comes through a session; anything but `true` refuses it with `not-authorized`. Default: everybody may. */
  authorize?: Authorize;
  /** ms until a pending approval settles as rejected with reason `expired`. Default none. */
  expireAfter?: number;
  /** What a user's message does while a decision is pending. Default `queue`: read after the round. */
  onMessage?: 'queue' | 'supersede' | 'refuse';
}

/** Everything that an agent is made of. Only `model` is required. */
export interface AgentOptions<S extends InputSchema = InputSchema> {
  model: ChatModel;
  /** Default `agent`. Stands in every session: an agent of another name opens none of them in a store (`another-agent`). */
  name?: string;
  /** Names that the agent had before: what it kept under them is its own. Default none. */
  formerNames?: readonly string[];
  instructions?: string | ((ctx: TurnContext) => string | Promise<string>);
  /** Advertised to the model. */
  tools?: readonly Tool[];
  /** Can be run, not advertised. */
  extraTools?: readonly Tool[];
  /**
   * The answer must fit this schema (an object at its root) and is `result.output`. Held to it by the provider where `model.canOutput`,
   * else given by a tool of ours.
   */
  output?: S;
  limits?: Partial<Limits>;
  /** Asked after every round; true ends the turn like a limit. What it throws, or gives that is neither a boolean nor nothing, fails the turn. */
  stopWhen?: (ctx: StopContext) => boolean | Promise<boolean>;
  /** Equal rounds in a row (tools, arguments and results) are told as `loop-suspected` from `threshold` (default 3) on; `stop` ends the turn. */
  loopDetection?: { threshold?: number; stop?: boolean };
  /** Calls at a time; 1 runs strictly one after another. Default 8. */
  concurrency?: number;
  /** Tell the model what a tool threw. Default false. */
  detailedErrors?: boolean;
  /** End the turn when the model calls a tool that does not exist. Default false. */
  stopOnUnknownTool?: boolean;
  approvals?: ApprovalOptions;
  /** false: calls go to the caller, nothing is run. Default true. */
  autopilot?: boolean;
  /** `required` and a named tool hold for the first model call of a turn only. */
  toolChoice?: ToolChoice;
  settings?: ModelSettings;
  /** Of model calls. */
  retry?: Partial<RetryRules>;
  /** Asked in order when the model before failed in a way that may pass and its tries are used up. */
  fallback?: readonly ChatModel[];
  /** Around every model call, also of the fallback models; the first one is the outermost. */
  modelMiddleware?: readonly ModelMiddleware[];
  /** Around every run of a tool; the first one is the outermost. */
  toolMiddleware?: readonly ToolMiddleware[];
  /** Around every turn; the first one is the outermost. */
  agentMiddleware?: readonly AgentMiddleware[];
  /** Give each turn instructions, messages and tools of its own, and are told how it ended. Asked side by side; what they give stands in list order. */
  contextProviders?: readonly ContextProvider[];
  /** Keeps the conversations; a session then holds its last turn only. */
  history?: HistoryProvider;
  /** Makes what is sent shorter; what is stored stays whole. `agentchart/compaction` makes one. */
  compaction?: Compaction;
  /** ms without a chunk after which a stream counts as broken. Not for a reply that is asked for whole. Default 120,000. */
  idleTimeout?: number;
  /** ms that running tools get after a stop. Default 1,000. */
  stopGrace?: number;
  /** Where sessions are kept; a path is that of an SQLite file. Default: in memory, each until the agent is closed. */
  store?: SessionStore | string;
  /** Default: the platform's. */
  clock?: Clock;
}
