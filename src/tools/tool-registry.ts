import { AgentError } from '../errors.ts';
import type { JsonObject } from '../messages/json.ts';
import type { ApprovalContext, Tool } from './tool.ts';

/** A tool as a model sees it; fits `ToolDefinition` of a model request. */
export interface AdvertisedTool {
  name: string;
  description?: string;
  inputSchema: JsonObject;
}

/**
 * The tools of an agent by name. A name is matched exactly: case, spaces, a prefix (`functions.bash`) or a suffix make it another
 * name, which is an unknown tool, so that no spelling gets around the approval rule of a tool.
 */
export interface ToolRegistry {
  /** Advertised and extra tools. */
  get(name: string): Tool | undefined;
  /** The advertised tools, in the order given. */
  definitions(): readonly AdvertisedTool[];
  /** The names of the advertised tools. */
  names(): readonly string[];
}

type NeedsApproval = Tool['needsApproval'];

/** Asked if either asks; a check that throws throws here too, which counts as needed (R25). */
const either = (a: NeedsApproval, b: NeedsApproval): NeedsApproval => {
  if (a === true || b === true) return true;
  if (a === false) return b;
  if (b === false) return a;
  return async (input: unknown, ctx: ApprovalContext) => (await a(input, ctx)) || (await b(input, ctx));
};

/** As far as it can be seen: what `tool()` makes. */
export const isTool = (value: unknown): value is Tool =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'checkInput' in value &&
  typeof value.checkInput === 'function';

const byName = (tools: readonly Tool[], option: string): Map<string, Tool> => {
  if (!Array.isArray(tools)) throw new AgentError('invalid-tool', `${option} must be an array of tools`);
  const found = new Map<string, Tool>();
  tools.forEach((one: unknown, index) => {
    if (!isTool(one)) throw new AgentError('invalid-tool', `${option}[${index}] is no tool: make it with tool()`);
    if (found.has(one.name)) {
      throw new AgentError('invalid-tool', `${option} has two tools named "${one.name}": rename one of them`);
    }
    found.set(one.name, one);
  });
  return found;
};

const definitionOf = ({ name, description, inputSchema }: Tool): AdvertisedTool =>
  Object.freeze({ name, ...(description === undefined ? {} : { description }), inputSchema });

/**
 * `tools` are advertised to the model, `extraTools` can only be run. Of a name in both, the one in `tools` runs, and approval is
 * asked if either asks for it. Throws `AgentError` `invalid-tool` where one list holds a name twice or something that is no tool.
 * The lists are copied.
 */
export const createToolRegistry = (tools: readonly Tool[], extraTools: readonly Tool[] = []): ToolRegistry => {
  const advertised = byName(tools, 'tools');
  const all = byName(extraTools, 'extraTools');
  for (const [name, one] of advertised) {
    const twin = all.get(name);
    const needsApproval = twin === undefined ? one.needsApproval : either(one.needsApproval, twin.needsApproval);
    all.set(name, needsApproval === one.needsApproval ? one : Object.freeze({ ...one, needsApproval }));
  }
  const definitions = Object.freeze([...advertised.values()].map(definitionOf));
  const names = Object.freeze([...advertised.keys()]);
  return { get: (name) => all.get(name), definitions: () => definitions, names: () => names };
};
