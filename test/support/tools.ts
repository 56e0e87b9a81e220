import { z } from 'zod';
import { type Tool, type ToolContext, type ToolOptions, tool } from '../../src/tools/tool.ts';

const anything = z.looseObject({});
type Anything = typeof anything;
type Input = z.infer<Anything>;

/** A tool that takes any object. */
export const toolOf = (
  name: string,
  execute: (input: Input, ctx: ToolContext) => unknown,
  options: Omit<Partial<ToolOptions<Anything>>, 'name' | 'execute' | 'inputSchema'> = {},
): Tool => tool({ ...options, name, inputSchema: anything, execute });

/** A tool that the application answers. */
export const outsideTool = (name: string, options: { needsApproval?: boolean; sequential?: boolean } = {}): Tool =>
  tool({ ...options, name, inputSchema: anything });

export const F1 = toolOf('F1', () => 'Result 1');
export const F2 = tool({ name: 'F2', inputSchema: z.object({ i: z.number() }), execute: ({ i }) => `Result 2: ${i}` });
export const V = tool({ name: 'V', inputSchema: z.object({ i: z.number() }), execute: () => undefined });
export const success = 'Success: function completed.';

/** A tool that throws. */
export const broken = toolOf('broken', () => {
  throw new Error('Oh no!');
});

/** A tool whose calls end when the test says so. */
export interface HeldTool {
  tool: Tool;
  /** Calls that have begun, in order. */
  readonly begun: readonly ToolContext[];
  /** Resolves when that many calls have begun. */
  whenBegun(count: number): Promise<void>;
  end(index: number, value?: unknown): void;
  fail(index: number, error: Error): void;
}

export const heldTool = (name: string, options: Parameters<typeof toolOf>[2] = {}): HeldTool => {
  const begun: ToolContext[] = [];
  const ends: PromiseWithResolvers<unknown>[] = [];
  let watchers: (() => void)[] = [];
  return {
    begun,
    tool: toolOf(
      name,
      (_, ctx) => {
        const end = Promise.withResolvers<unknown>();
        begun.push(ctx);
        ends.push(end);
        const seen = watchers;
        watchers = [];
        for (const watcher of seen) watcher();
        return end.promise;
      },
      options,
    ),
    whenBegun: async (count) => {
      while (begun.length < count) await new Promise<void>((resolve) => watchers.push(resolve));
    },
    end: (index, value = 'done') => ends[index]?.resolve(value),
    fail: (index, error) => ends[index]?.reject(error),
  };
};

/** One call of a scripted reply. */
export const call = (name: string, input: unknown = {}, id?: string) =>
  id === undefined ? { name, input } : { name, input, id };
export const calls = (...toolCalls: ReturnType<typeof call>[]) => ({ toolCalls });
