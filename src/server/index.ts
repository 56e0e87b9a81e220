export { createHandler } from './create-handler.ts';
export type { HandlerOptions } from './create-handler.ts';
export { sessionIdOf } from './access.ts';
export type { Access, AccessQuestion, AuthorizeRequest, Refusal } from './access.ts';
export type { Route } from './routes.ts';
