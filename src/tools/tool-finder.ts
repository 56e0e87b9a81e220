import { type ToolChange, type ToolRef, noTool, ownTool, refOf } from './call.ts';
import type { Tool } from './tool.ts';
import type { AdvertisedTool, ToolRegistry } from './tool-registry.ts';

/** Finds the tool that a call means: one of the agent's own, or one that another tool added while the turn ran (R12). */
export interface ToolFinder {
  /** The tool of the structured answer, where there is one: no other tool takes it away. */
  readonly fixed: string | undefined;
  find(ref: ToolRef): Tool | undefined;
  /** What a model is shown after these changes. A tool that was added and lost by a restart is left out. */
  definitions(changes: readonly ToolChange[]): readonly AdvertisedTool[];
  names(changes: readonly ToolChange[]): readonly string[];
  /** Keeps a tool that was added; it is live, so it is not stored. */
  keep(toolKey: string, tool: Tool): void;
  forget(changes: readonly ToolChange[]): void;
}

/** A tool as a model is shown it. */
export const definitionOf = ({ name, description, inputSchema }: Tool): AdvertisedTool => ({
  name,
  ...(description === undefined ? {} : { description }),
  inputSchema,
});

export const createToolFinder = (registry: ToolRegistry, fixed?: string): ToolFinder => {
  const added = new Map<string, Tool>();
  const find = ({ tool, toolKey }: ToolRef): Tool | undefined => {
    if (toolKey === undefined || toolKey === ownTool) return registry.get(tool);
    return toolKey === noTool ? undefined : added.get(toolKey);
  };
  const definitions = (changes: readonly ToolChange[]): readonly AdvertisedTool[] => {
    if (changes.length === 0) return registry.definitions();
    const names = new Set([...registry.names(), ...changes.map(({ name }) => name)]);
    return [...names].flatMap((name) => {
      const tool = find(refOf(name, changes));
      return tool === undefined ? [] : [definitionOf(tool)];
    });
  };
  return {
    fixed,
    find,
    definitions,
    names: (changes) => definitions(changes).map(({ name }) => name),
    keep: (toolKey, tool) => {
      added.set(toolKey, tool);
    },
    forget: (changes) => {
      for (const { toolKey } of changes) if (toolKey !== undefined) added.delete(toolKey);
    },
  };
};
