import { AgentError } from '../errors.ts';

export interface ModelErrorOptions {
  /** HTTP status, where there was a response. */
  status?: number;
  /** The same request may work later: network, 408, 409, 429, 5xx, a broken stream. */
  transient: boolean;
  /** What the provider asked to wait, in ms. */
  retryAfter?: number;
  /** The request is longer than the model's context window. */
  overflow?: boolean;
  /** The provider's own code. */
  providerCode?: string;
  /** Who was asked: the host of the server, with its port, or the provider's name. */
  host?: string;
  cause?: unknown;
}

/** A model call failed. The message is the provider's own text. Whether it is tried again is for the chart to say. */
export class ModelError extends AgentError {
  override readonly name = 'ModelError';
  readonly status: number | undefined;
  readonly transient: boolean;
  readonly retryAfter: number | undefined;
  readonly overflow: boolean;
  readonly providerCode: string | undefined;
  /** Set by the adapter that knows it. */
  host: string | undefined;

  constructor(code: 'model-request-failed' | 'model-stream-broken', message: string, options: ModelErrorOptions) {
    super(code, message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
    this.transient = options.transient;
    this.retryAfter = options.retryAfter;
    this.overflow = options.overflow ?? false;
    this.providerCode = options.providerCode;
    this.host = options.host;
  }

  override toJSON(): Record<string, unknown> {
    const { name, code, message, status, transient, retryAfter, overflow, providerCode, host } = this;
    return { name, code, message, status, transient, retryAfter, overflow, providerCode, host };
  }
}

/** The same error, which says who was asked where it does not yet. */
export const from = (thrown: unknown, host: string): unknown => {
  if (thrown instanceof ModelError) thrown.host ??= host;
  return thrown;
};
