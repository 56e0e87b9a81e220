// Two pages in React: a chat with `useChat` whose agent is on this server, and a machine that runs in the page itself.
// `npx node --conditions=agentchart-source examples/react/serve.ts`, with the model of the other examples.
import { randomUUID } from 'node:crypto';
import { serve } from '@hono/node-server';
import { createHandler } from 'agentchart/server';
import { build } from 'esbuild';
import { startLocalModel } from '../local-model/start-local-model.ts';
import { chooseModel } from '../terminal/choose-model.ts';
import { createTripAgent } from '../trip.ts';

const bundle = async (page: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [`${import.meta.dirname}/${page}.tsx`],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    // `agentchart` is the source of this repository; an application has no need of this line.
    conditions: ['agentchart-source', 'module'],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
};

const page = (name: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${name}</title>
<style>body { font: 16px/1.5 system-ui; max-width: 40rem; margin: 2rem auto } textarea { width: 100% }</style>
<main id="root"></main><script type="module" src="/${name}.js"></script></html>`;

const userOf = (request: Request): string | undefined =>
  /(?:^|; )user=([\w-]+)/.exec(request.headers.get('cookie') ?? '')?.[1];

const { model, about, close } = await chooseModel();
const script = await startLocalModel();
const agent = createTripAgent(model);
const handler = createHandler({
  agent,
  basePath: '/agent',
  // In an application: who is logged in. Here whoever has the cookie of this server.
  authorize: ({ request }) => {
    const user = userOf(request);
    return user === undefined ? { refuse: 401 } : { owner: user };
  },
  onError: console.error,
});
const scripts = new Map([
  ['/chat.js', await bundle('chat')],
  ['/machine.js', await bundle('machine')],
]);

const answer = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/agent/')) return handler(request);
  // The page's own agent asks the scripted model, by way of this server.
  if (pathname.startsWith('/v1/')) {
    const { body, status, headers } = await fetch(script.baseURL.replace(/\/v1$/, pathname), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: await request.text(),
    });
    return new Response(body, { status, headers: { 'content-type': headers.get('content-type') ?? '' } });
  }
  const code = scripts.get(pathname);
  if (code !== undefined) return new Response(code, { headers: { 'content-type': 'text/javascript; charset=utf-8' } });
  if (pathname !== '/chat' && pathname !== '/machine')
    return new Response('There are /chat and /machine.', { status: 404 });
  const user = userOf(request) ?? randomUUID();
  return new Response(page(pathname.slice(1)), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'set-cookie': `user=${user}; HttpOnly; SameSite=Strict; Path=/`,
    },
  });
};

const port = Number(process.env['PORT'] ?? 8080);
const server = serve({ fetch: answer, hostname: '127.0.0.1', port }, (address) => {
  console.log(`${about}\nhttp://127.0.0.1:${address.port}/chat and http://127.0.0.1:${address.port}/machine`);
});
process.once('SIGINT', () => {
  server.close();
  void Promise.all([agent.close(), close(), script.close()]);
});
