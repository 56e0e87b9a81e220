// Vitest runs this for every test file, also in a worker that stays: a hook in a module that files share would be there for the first one alone.
import { afterAll } from 'vitest';
import { letGo } from './left-behind.ts';

afterAll(letGo);
