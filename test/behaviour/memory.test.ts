import { memoryBackend } from './backend.ts';
import { behaviour } from './suite.ts';

behaviour('memory', memoryBackend);
