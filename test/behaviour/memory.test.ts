import { describe } from 'vitest';
import { memoryBackend } from './backend.ts';
import { behaviour } from './suite.ts';

describe('without a store', () => behaviour('memory', memoryBackend));
