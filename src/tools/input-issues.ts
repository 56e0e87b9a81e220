import type { SchemaIssue } from './input-schema.ts';
import { pathText } from './path-text.ts';
import { headOf } from './truncate-text.ts';

/** `path` is `'a.b[0]'`, `''` for the whole input; `message` says what was expected. */
export type InputIssue = { path: string; message: string };

const maxIssues = 20;
const maxMessageChars = 500;

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof segment === 'object' ? segment.key : segment;

const isIssue = (value: unknown): value is SchemaIssue =>
  typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';

export const isIssueList = (value: unknown): value is readonly SchemaIssue[] =>
  Array.isArray(value) && value.length > 0 && value.every(isIssue);

/** zod says no more than "Invalid input" of a union; what each option missed stands in `errors`, a list per option. */
const optionsOf = (issue: SchemaIssue): readonly SchemaIssue[][] =>
  'errors' in issue && Array.isArray(issue.errors)
    ? issue.errors.map((option: unknown) => (isIssueList(option) ? [...option] : []))
    : [];

const messageOf = (issue: SchemaIssue): string => {
  const options = optionsOf(issue)
    .map((option) => option.map(lineOf).join(', '))
    .filter((line) => line !== '');
  return options.length === 0 ? issue.message : `${issue.message}; no option fits: ${options.join(' | ')}`;
};

const lineOf = (issue: SchemaIssue): string => {
  const path = pathText((issue.path ?? []).map(keyOf));
  return path === '' ? messageOf(issue) : `${path}: ${messageOf(issue)}`;
};

/** The issues of a Standard Schema in our form: at most 20, each message at most 500 characters; a last one tells the rest. */
export const inputIssues = (issues: readonly SchemaIssue[]): InputIssue[] => {
  const shown = issues.slice(0, maxIssues).map((issue) => ({
    path: headOf(pathText((issue.path ?? []).map(keyOf)), maxMessageChars),
    message: headOf(messageOf(issue), maxMessageChars),
  }));
  if (issues.length > maxIssues) shown.push({ path: '', message: `and ${issues.length - maxIssues} more` });
  return shown;
};
