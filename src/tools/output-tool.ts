import { AgentError } from '../errors.ts';
import type { InputSchema } from './input-schema.ts';
import { type Tool, tool } from './tool.ts';

/** The name of the tool by which a model gives a structured answer where its provider has no other way. */
export const outputToolName = 'final_answer';

const make = (schema: InputSchema): Tool =>
  tool({
    name: outputToolName,
    description: 'Gives the final answer to the user. Call it once, when everything else is done.',
    inputSchema: schema,
    execute: (answer) => answer,
    returnDirect: true,
    annotations: { readOnly: true },
    maxResultChars: Number.MAX_SAFE_INTEGER,
  });

/**
 * The schema of a structured answer as a tool: its check is the check of the answer, and where the model has to call it, its result is
 * the answer. Throws `invalid-schema` like `tool()`, of the option `output`: the root must be an object.
 */
export const createOutputTool = (schema: InputSchema): Tool => {
  try {
    return make(schema);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    // Whoever gave the schema knows nothing of a tool.
    const message = error.message.replace(`tool "${outputToolName}": inputSchema`, 'option "output"');
    throw new AgentError(error.code, message, { cause: error });
  }
};
