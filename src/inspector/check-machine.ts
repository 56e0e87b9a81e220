import { AgentError } from '../errors.ts';

const has = (value: unknown, key: string): boolean => typeof value === 'object' && value !== null && key in value;

const whatIs = (value: unknown): string => {
  if (has(value, 'nodes') && has(value, 'edges')) return 'the chart that chartOf gave of it';
  if (has(value, 'machine')) return 'the agent around it';
  if (has(value, 'logic')) return 'an actor of it';
  return value === null ? 'null' : typeof value;
};

/** Throws `invalid-option` for what is no machine of XState 5. */
export const checkMachine = (given: unknown, where: string): void => {
  if (has(given, 'root') && has((given as { root: unknown }).root, 'states')) return;
  throw new AgentError(
    'invalid-option',
    `${where}: needs the machine itself, such as agent.machine, and got ${whatIs(given)}`,
  );
};
