import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender } from './contender.ts';
import type { Workload } from './workload.ts';

const folderOf = (name: string): string => join(import.meta.dirname, '..', name);

const namesIn = (folder: string): string[] =>
  readdirSync(folderOf(folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();

/** They need no package but those of the repository. */
const own = ['loop', 'loop-sqlite', 'xstate-bare', 'agentchart', 'agentchart-sqlite'];

/** In the order of the table. A file that is not here is a part of one that is. */
const order = [...own, 'ai-sdk', 'langchain', 'langchain-memory', 'langchain-sqlite', 'openai-agents', 'mastra'];

/** As the table calls them. */
export const titles: Readonly<Record<string, string>> = {
  loop: 'hand-written loop',
  'loop-sqlite': 'loop, appended to SQLite',
  'xstate-bare': 'XState alone',
  agentchart: 'agentchart',
  'agentchart-sqlite': 'agentchart, sqliteStore',
  'ai-sdk': 'ai',
  langchain: 'langchain',
  'langchain-memory': 'langchain, MemorySaver',
  'langchain-sqlite': 'langchain, SqliteSaver',
  'openai-agents': '@openai/agents',
  mastra: '@mastra/core',
  // In no race: an engine is more than one process.
  'agentchart-restate': 'agentchart, Restate',
  'agentchart-restate-2': 'agentchart, Restate, 2 workers',
};

export const contenders = {
  names: order,
  own,
  load: async (name: string): Promise<Contender> =>
    ((await import(`../contenders/${name}.ts`)) as { contender: Contender }).contender,
};

export const workloads = {
  names: namesIn('workloads'),
  load: async (name: string): Promise<Workload> =>
    ((await import(`../workloads/${name}.ts`)) as { workload: Workload }).workload,
};
