/** Every code that an `AgentError` of this package carries. Codes are stable names: programs may switch on them. */
export type AgentErrorCode =
  // what the caller gave
  | 'invalid-option'
  | 'invalid-tool'
  | 'invalid-schema'
  | 'invalid-message'
  | 'invalid-input'
  // how a turn failed
  | 'error-limit'
  | 'iteration-limit'
  | 'token-limit'
  | 'tool-call-limit'
  | 'deadline'
  | 'stop-when'
  | 'loop-detected'
  | 'unknown-tool'
  | 'empty-reply'
  | 'model-error'
  | 'context-overflow'
  | 'context-provider-error'
  | 'compaction-failed'
  | 'load-failed'
  | 'store-error'
  | 'machine-error'
  // models
  | 'model-request-failed'
  | 'model-stream-broken'
  | 'mcp-unreachable'
  | 'mcp-invalid-answer'
  | 'mcp-closed'
  // sessions and decisions
  | 'invalid-document'
  | 'newer-document'
  | 'unsafe-document'
  | 'incompatible-document'
  | 'unknown-session'
  | 'unknown-revision'
  | 'unknown-command'
  | 'session-exists'
  | 'another-agent'
  | 'read-only'
  | 'unknown-call'
  | 'call-settled'
  | 'call-changed'
  | 'decision-conflict'
  | 'not-authorized'
  | 'agent-closed'
  | 'session-closed'
  | 'session-idle'
  | 'session-busy'
  | 'session-conflict'
  | 'engine-error'
  | 'nothing-to-retry'
  // tests
  | 'crash-unsafe'
  | 'unsound-chart';

/** The one base class of what this package throws. `JSON.stringify` of it keeps name, code, message and details. */
export class AgentError extends Error {
  override readonly name: string = 'AgentError';
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  toJSON(): Record<string, unknown> {
    return { name: this.name, code: this.code, message: this.message };
  }
}

/** An error as plain data: what enters a chart, a document or an event. Never a stack. */
export interface ErrorData {
  name: string;
  message: string;
  code?: string;
  status?: number;
  cause?: ErrorData;
}

const text = (value: unknown): string => {
  try {
    return typeof value === 'string' ? value : String(value);
  } catch {
    return 'unprintable error';
  }
};

/** `instanceof` that never throws: a revoked proxy is an instance of nothing. */
export const isInstance = <T>(value: unknown, type: new (...given: never[]) => T): value is T => {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
};

/** Many throw plain objects, and an error of another realm is no instance either. */
const hasMessage = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';

/** Turns anything that was thrown into `ErrorData`; never throws itself, follows at most five causes. */
export const errorData = (thrown: unknown, depth = 0): ErrorData => {
  try {
    if (!isInstance(thrown, Error) && !hasMessage(thrown)) return { name: 'Error', message: text(thrown) };
    const { name = 'Error', message, code, status, cause } = thrown as Record<string, unknown>;
    return {
      name: text(name),
      message: text(message),
      ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
      ...(typeof status === 'number' && Number.isFinite(status) ? { status } : {}),
      ...(cause !== undefined && depth < 5 ? { cause: errorData(cause, depth + 1) } : {}),
    };
  } catch {
    return { name: 'Error', message: 'unprintable error' };
  }
};
