/** What a Standard Schema says is wrong with a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/**
 * A Standard Schema that also gives a JSON schema: zod 4 and arktype 2 as they are, valibot through `toStandardJsonSchema` of
 * `@valibot/to-json-schema`. Only the parts that are used are declared.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema: {
      readonly input: (options: {
        readonly target: 'draft-2020-12';
        readonly libraryOptions?: Record<string, unknown>;
      }) => Record<string, unknown>;
    };
  };
}

/**
 * A plain JSON schema, and how its values are checked. `validate` gets the object of the model, returns what the tool gets, and
 * throws to refuse: the `issues` of what it throws (a `ZodError`, say) are shown to the model, else its message.
 *
 * Without `validate`, zod's `fromJSONSchema` checks, and the tool gets the object as the model gave it: `default` fills nothing
 * in. A schema that zod can not convert (`if`/`then`/`else`, `not`, external `$ref`, objects or arrays as `const` or `enum`
 * values) is sent to the model but lets every object pass: give `validate` there.
 */
export interface JsonSchemaInput<Output = unknown> {
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  readonly validate?: (input: Record<string, unknown>) => Output | Promise<Output>;
}

export type InputSchema = StandardSchema | JsonSchemaInput;

/** What `execute` gets: the schema's output, after defaults and transforms. */
export type SchemaOutput<S extends InputSchema> = S extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : S extends { readonly validate: (...input: never[]) => infer Output }
    ? Awaited<Output>
    : Record<string, unknown>;

/** Checks one value. May throw or reject; `checkInput` turns that into an issue. */
export type Validate = (input: Record<string, unknown>) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>;

/** Our own narrow test, so that a function (arktype) counts as well as an object. */
export const isStandardSchema = (schema: unknown): schema is { readonly '~standard': unknown } =>
  ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema;
