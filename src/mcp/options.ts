import { AgentError } from '../errors.ts';
import type { ToolAnnotations } from '../tools/tool.ts';

/** A tool of a server, where its rule of approval is decided. All of it is the server's word. */
export interface McpToolInfo {
  /** As models call it. */
  name: string;
  serverName: string;
  title?: string;
  description?: string;
  annotations: Required<ToolAnnotations>;
}

export interface McpToolsOptions {
  /** Put before every name, so that the tools of several servers stand in one list: `github_`. At most 32 of a-z, A-Z, 0-9, _ and -. */
  prefix?: string;
  /**
   * Which calls a human decides. `'destructive'`: of tools that do not say that they only read or only add. `true`: all. A
   * function is asked once for every tool; one that throws means yes. Default false.
   */
  needsApproval?: boolean | 'destructive' | ((tool: McpToolInfo) => boolean);
  /** ms for one call, above 0. Default 60,000. The server is told that the call is cancelled. */
  timeout?: number;
  /** Hears what nobody awaits: a list that could not be read after it changed, an error of the connection, a listener that threw. */
  onError?: (error: unknown) => void;
}

export type McpRules = Required<McpToolsOptions>;

const maxDelay = 2_147_483_647;

type Rule = readonly [expected: string, holds: (value: unknown) => boolean];

const rules: Record<keyof McpToolsOptions, Rule> = {
  prefix: [
    'at most 32 of the characters a-z, A-Z, 0-9, _ and -',
    (value) => typeof value === 'string' && /^[a-zA-Z0-9_-]{0,32}$/.test(value),
  ],
  needsApproval: [
    "true, false, 'destructive' or a function",
    (value) => typeof value === 'boolean' || value === 'destructive' || typeof value === 'function',
  ],
  timeout: [
    `a number of ms above 0, at most ${maxDelay}`,
    (value) => typeof value === 'number' && value > 0 && value <= maxDelay,
  ],
  onError: ['a function', (value) => typeof value === 'function'],
};

const known: ReadonlyMap<string, Rule> = new Map(Object.entries(rules));

/** Throws `AgentError` `invalid-option`, naming the option and what is allowed. */
export const rulesOf = (options: McpToolsOptions): McpRules => {
  const { prefix = '', needsApproval = false, timeout = 60_000, onError = () => undefined } = options;
  for (const [option, value] of Object.entries(options)) {
    const rule = known.get(option);
    if (rule === undefined) {
      const names = [...known.keys()].join(', ');
      throw new AgentError('invalid-option', `mcpTools() has no option "${option}"; known: ${names}`);
    }
    if (value !== undefined && !rule[1](value)) {
      throw new AgentError('invalid-option', `mcpTools(): option "${option}" must be ${rule[0]}`);
    }
  }
  return { prefix, needsApproval, timeout, onError };
};
