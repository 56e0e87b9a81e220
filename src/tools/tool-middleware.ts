import { AgentError } from '../errors.ts';
import type { Tool, ToolContext } from './tool.ts';

/** One run of a tool: its checked arguments and what it is told. */
export interface ToolRun {
  tool: Tool;
  input: unknown;
  ctx: ToolContext;
}

export type RunTool = (run: ToolRun) => unknown;

/**
 * Stands around every run of a tool, also of its retries: it takes what is next and gives what stands in its place. It may change the
 * arguments or the result, answer itself, run the tool again, or throw, which is a failure of the call like one of the tool's own.
 */
export type ToolMiddleware = (next: RunTool) => RunTool;

/** In list order, the first one outermost. Throws `invalid-option` where one gives no function, with its place in the list. */
export const wrapTools = (middleware: readonly ToolMiddleware[]): RunTool =>
  middleware.reduceRight<RunTool>(
    (next, wrap, index) => {
      const made: unknown = wrap(next);
      if (typeof made === 'function') return made as RunTool;
      throw new AgentError(
        'invalid-option',
        `createAgent: toolMiddleware[${index}] gave no function; return (run) => next(run)`,
      );
    },
    ({ tool, input, ctx }) => tool.execute?.(input, ctx),
  );
