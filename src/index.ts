export { createAgent } from './sessions/create-agent.ts';
export { tool } from './tools/tool.ts';
export { memoryStore } from './sessions/memory-store.ts';
export { AgentError } from './errors.ts';
export { TurnError } from './sessions/turn-error.ts';
export { ModelError } from './models/model-error.ts';
export { textOf } from './messages/message.ts';
