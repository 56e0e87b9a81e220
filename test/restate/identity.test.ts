import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scriptedModel } from '../../src/testing/index.ts';
import { restateMissing, startRestate } from '../support/restate-server.ts';
import { serveAgent } from './serve.ts';

const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** As the engine writes its public key. */
const base58 = (bytes: Buffer): string => {
  let text = '';
  for (let left = BigInt(`0x${bytes.toString('hex')}`); left > 0n; left /= 58n)
    text = letters[Number(left % 58n)] + text;
  return text;
};

const statusOf = (uri: string, path: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const session = connect(uri);
    const stream = session.request({
      ':path': path,
      ':method': 'POST',
      'content-type': 'application/vnd.restate.invocation.v5',
    });
    let status: unknown;
    stream.once('response', (headers) => (status = headers[':status']));
    stream.once('error', reject).once('close', () => {
      session.close();
      resolve(status);
    });
    stream.resume().end();
  });

test.skipIf(restateMissing)(
  'a worker that knows its engine refuses what the engine did not sign',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentchart-identity-'));
    try {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const identityKey = join(folder, 'key.pem');
      await writeFile(identityKey, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
      await using server = await startRestate({ identityKey });
      const identityKeys = [`publickeyv1_${base58(raw)}`];
      await using served = await serveAgent(server, { model: scriptedModel(['world']) }, { identityKeys });
      const session = await served.open();
      await session.send('hello');
      expect((await session.settled()).text).toBe('world');
      expect(await statusOf(served.uri, `/invoke/${served.agent.name}.sessions/view`)).toBe(401);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
  60_000,
);
