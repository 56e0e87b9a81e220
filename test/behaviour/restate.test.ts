import { describe } from 'vitest';
import { restateMissing } from '../support/restate-server.ts';
import { restateBackend } from './restate-backend.ts';
import { behaviour } from './suite.ts';

describe.skipIf(restateMissing)(restateMissing || 'over an engine', () =>
  behaviour('Restate', restateBackend, { concurrent: true }),
);
