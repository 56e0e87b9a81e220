import type { SchemaIssue, SchemaResult, StandardSchema, Validate } from './input-schema.ts';

interface Payload {
  value: unknown;
  issues: readonly unknown[];
}

/** The parts of a zod 4 schema that are used here; `_zod` is its documented surface for libraries. */
interface ZodSchema extends StandardSchema {
  readonly _zod: {
    readonly run: (payload: { value: unknown; issues: [] }, ctx: { async: true }) => Payload | Promise<Payload>;
  };
  readonly safeParseAsync: (input: unknown) => Promise<{ error?: { readonly issues: readonly SchemaIssue[] } }>;
}

export const isZodSchema = (schema: StandardSchema): schema is ZodSchema =>
  '_zod' in schema &&
  typeof schema._zod === 'object' &&
  schema._zod !== null &&
  'run' in schema._zod &&
  'safeParseAsync' in schema &&
  typeof schema.safeParseAsync === 'function';

/**
 * zod's own `~standard.validate` first tries without promises and drops the promise of an async refinement that it meets: one that
 * rejects then ends a Node process as an unhandled rejection. Run like this, nothing is dropped, and a schema without async parts
 * still answers at once. Refinements of input that does not fit may run twice, as its messages are made in a second pass.
 */
export const zodValidator = (schema: ZodSchema): Validate => {
  const fits = ({ issues }: Payload): boolean => issues.length === 0;
  const messages = async (input: unknown): Promise<SchemaResult<unknown>> => {
    const { error } = await schema.safeParseAsync(input);
    return { issues: error?.issues ?? [{ message: 'does not fit the schema' }] };
  };
  return (input) => {
    const result = schema._zod.run({ value: input, issues: [] }, { async: true });
    if (result instanceof Promise) {
      return result.then((settled) => (fits(settled) ? { value: settled.value } : messages(input)));
    }
    return fits(result) ? { value: result.value } : schema['~standard'].validate(input);
  };
};
