export { inMemory as contender } from './langchain.ts';
