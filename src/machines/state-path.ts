import type { StateValue } from 'xstate';

/** `{ thinking: 'asking' }` as `thinking.asking`. */
export const statePath = (value: StateValue): string => {
  if (typeof value === 'string') return value;
  let path = '';
  for (const key of Object.keys(value)) {
    const inner = value[key];
    const own = inner === undefined ? key : `${key}.${statePath(inner)}`;
    path = path === '' ? own : `${path} & ${own}`;
  }
  return path;
};
