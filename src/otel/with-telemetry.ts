import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { AgentOptions } from '../sessions/agent-options.ts';
import { chatSpans } from './chat-spans.ts';
import { createInstruments } from './instruments.ts';
import { toolSpans } from './tool-spans.ts';
import { turnSpans } from './turn-spans.ts';

export interface TelemetryOptions {
  /** Messages, instructions, arguments and results enter the spans. They hold what people say: default false. */
  recordContent?: boolean;
  /** `gen_ai.provider.name` of models that do not say it. Default `unknown`. */
  provider?: string;
  /** Default: the one that is registered globally. */
  tracerProvider?: TracerProvider;
  /** Default: the one that is registered globally. */
  meterProvider?: MeterProvider;
}

/**
 * The options of an agent with OpenTelemetry's spans and metrics for generative AI around its turns, model calls and tool runs:
 * `createAgent(withTelemetry({ model, tools }))`. Middleware of the agent's own stands inside the turn's span and outside the others: what
 * it answers itself is no `chat` and no `execute_tool`.
 *
 * A turn that goes on after a wait, here or in another process, is a span of its own that links to the first one; for that the first one's
 * `traceparent` is kept with the turn.
 *
 * An agent that is a tool has no middleware around its turn: its span begins with its first request and ends with the last thing that it did.
 */
export const withTelemetry = <Options extends AgentOptions>(
  options: Options,
  telemetry: TelemetryOptions = {},
): Options => {
  const agent = options.name ?? 'agent';
  const setup = { agent, options, telemetry, instruments: createInstruments(telemetry) };
  return {
    ...options,
    agentMiddleware: [turnSpans(setup), ...(options.agentMiddleware ?? [])],
    modelMiddleware: [...(options.modelMiddleware ?? []), chatSpans(setup)],
    toolMiddleware: [...(options.toolMiddleware ?? []), toolSpans(setup)],
  };
};
