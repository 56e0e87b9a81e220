import { agentLayerRows } from './agent-layer.ts';
import { approvalRows } from './approvals.ts';
import { chatClientRows } from './chat-client.ts';
import { createAgentRows } from './create-agent.ts';
import { edgeCaseRows } from './edge-cases.ts';
import type { Row } from './row.ts';
import { ruleRows } from './rules.ts';

export interface Section {
  title: string;
  text: string;
  rows: readonly Row[];
}

export const sections: readonly Section[] = [
  {
    title: 'The rules of the loop (R)',
    text: 'Each rule beside what the Microsoft chat client does about it, or LangChain where it alone has something like it.',
    rows: ruleRows,
  },
  {
    title: 'Chat client: the loop (L)',
    text: 'Cases that the chat client checks in its own tests.',
    rows: chatClientRows,
  },
  { title: 'Chat client: approvals (A)', text: 'Calls that people have to allow.', rows: approvalRows },
  { title: 'Chat client: edge cases (D)', text: 'What its source says and its tests do not.', rows: edgeCaseRows },
  { title: 'Agent layer (M)', text: 'What Agent Framework puts around the chat client.', rows: agentLayerRows },
  { title: 'createAgent (LC)', text: 'LangChain’s agent and the graph that runs it.', rows: createAgentRows },
];
