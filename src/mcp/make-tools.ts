import type { Tool as Definition } from '@modelcontextprotocol/client';
import { AgentError, errorData } from '../errors.ts';
import { canonicalJson, isPlainObject } from '../messages/json.ts';
import { type Tool, type ToolAnnotations, tool } from '../tools/tool.ts';
import { callTool } from './call-tool.ts';
import type { McpClient } from './connect.ts';
import type { McpRules, McpToolInfo } from './options.ts';
import { toolNameOf } from './tool-names.ts';

/** A tool that was made, and from what: the same again gives the same tool. */
export interface MadeTool {
  serverName: string;
  /** Canonical JSON of what the server listed. */
  source: string;
  tool: Tool;
}

export interface MadeTools {
  made: readonly MadeTool[];
  /** One for every tool that cannot be used; its message names the tool. */
  errors: readonly AgentError[];
}

type Listed = Definition & { execution?: { taskSupport?: unknown } };

/** As far as `tool()` does not look itself. The input schema is checked there, by its own words. */
const isListed = (value: unknown): value is Listed =>
  isPlainObject(value) &&
  typeof value['name'] === 'string' &&
  ['title', 'description'].every((key) => value[key] === undefined || typeof value[key] === 'string') &&
  ['annotations', 'execution', 'outputSchema'].every((key) => value[key] === undefined || isPlainObject(value[key]));

const nameOf = (value: unknown): string =>
  isPlainObject(value) && typeof value['name'] === 'string'
    ? JSON.stringify(value['name'].slice(0, 200))
    : 'without a name';

/** What a server leaves open means the worse, as MCP has it: a tool may destroy, and may not be repeated, until it says otherwise. */
const annotationsOf = ({ annotations = {} }: Listed): Required<ToolAnnotations> => {
  const readOnly = annotations.readOnlyHint === true;
  return {
    readOnly,
    idempotent: annotations.idempotentHint === true,
    destructive: annotations.destructiveHint ?? !readOnly,
  };
};

const needsApproval = (info: McpToolInfo, { needsApproval: rule }: McpRules): boolean => {
  if (rule === 'destructive') return info.annotations.destructive;
  if (typeof rule === 'boolean') return rule;
  try {
    return rule(info);
  } catch {
    return true;
  }
};

const makeTool = (client: McpClient, listed: Listed, name: string, rules: McpRules): Tool => {
  if (listed.execution?.taskSupport === 'required') {
    throw new AgentError('invalid-tool', 'it can be run only as a task of MCP, which is not supported');
  }
  const description = listed.description ?? listed.title;
  const annotations = annotationsOf(listed);
  const info: McpToolInfo = {
    name,
    serverName: listed.name,
    ...(listed.title === undefined ? {} : { title: listed.title }),
    ...(description === undefined ? {} : { description }),
    annotations,
  };
  return tool({
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: { jsonSchema: listed.inputSchema },
    annotations,
    needsApproval: needsApproval(info, rules),
    timeout: rules.timeout,
    execute: (input, ctx) => callTool(client, listed, input, ctx),
  });
};

/** Our tools for those that a server listed, in its order. What was made before and has not changed is the same object. */
export const makeTools = (
  client: McpClient,
  found: readonly unknown[],
  rules: McpRules,
  before: readonly MadeTool[],
): MadeTools => {
  const errors: AgentError[] = [];
  const refuse = (
    value: unknown,
    problem: string,
    code: AgentError['code'] = 'invalid-tool',
    cause?: unknown,
  ): void => {
    errors.push(new AgentError(code, `the MCP tool ${nameOf(value)} cannot be used: ${problem}`, { cause }));
  };
  const byName = Map.groupBy(found.filter(isListed), ({ name }) => toolNameOf(name, rules.prefix));
  const known = new Map(before.map((one) => [one.source, one]));
  const made = found.flatMap((listed): MadeTool[] => {
    if (!isListed(listed)) {
      refuse(listed, 'its name, description, annotations or output schema are not what MCP has');
      return [];
    }
    const name = toolNameOf(listed.name, rules.prefix);
    const namesakes = byName.get(name) ?? [];
    if (namesakes.length > 1) {
      refuse(listed, `"${name}" would be the name of ${namesakes.map(nameOf).join(' and ')}`);
      return [];
    }
    try {
      const source = canonicalJson(listed);
      return [known.get(source) ?? { serverName: listed.name, source, tool: makeTool(client, listed, name, rules) }];
    } catch (error) {
      const code = error instanceof AgentError ? error.code : 'invalid-tool';
      refuse(listed, errorData(error).message, code, error);
      return [];
    }
  });
  return { made, errors };
};
