import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startLocalModel } from '../../examples/local-model/start-local-model.ts';

export interface HeldModel {
  /** For the programs of the examples. */
  env: { MODEL: string; API_KEY: string; OPENAI_URL: string };
  /** Lets the first answer go on. */
  release(): void;
  close(): Promise<void>;
}

/** The scripted model of the examples. Its first answer stops where its text has begun, until it is released. */
export const startHeldModel = async (): Promise<HeldModel> => {
  const { model, apiKey, baseURL, close } = await startLocalModel();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isFirst = true;
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = await fetch(new URL(request.url ?? '', baseURL), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat(await request.toArray()),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    for await (const event of eventsOf(answer)) {
      response.write(event);
      if (!isFirst || !/"content":"[^"]/.test(event)) continue;
      isFirst = false;
      await released;
    }
    response.end();
  };
  const server = createServer((request, response) => {
    pass(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: { MODEL: model, API_KEY: apiKey, OPENAI_URL: `http://127.0.0.1:${port}/v1` },
    release,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await close();
    },
  };
};

/** The events of a stream one by one, however they came. */
async function* eventsOf({ body }: Response): AsyncGenerator<string> {
  let rest = '';
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = `${rest}${text}`.split(/(?<=\n\n)/);
    rest = events.at(-1)?.endsWith('\n\n') === true ? '' : (events.pop() ?? '');
    yield* events;
  }
  if (rest !== '') yield rest;
}
