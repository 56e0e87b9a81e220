import type { StateValue } from 'xstate';

/** `{ thinking: 'asking' }` as `thinking.asking`. */
export const statePath = (value: StateValue): string => {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([key, inner]) => (inner === undefined ? key : `${key}.${statePath(inner)}`))
    .join(' & ');
};
