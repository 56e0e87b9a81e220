import { scenarios } from '../scenarios.ts';

export const scenario = scenarios.unsafe;
