// An MCP server by hand, over stdio. LISTS are the lists of tools that it gives one after the other, a step with each call of `next`.
import { createInterface } from 'node:readline';

interface Request {
  id?: number;
  method: string;
  params?: {
    name?: string;
    protocolVersion?: string;
    requestId?: number;
    reason?: string;
    cursor?: string;
    _meta?: { progressToken?: number };
  };
}

const lists: unknown[] = JSON.parse(process.env['LISTS'] ?? '[[]]');
const cancelled: unknown[] = [];
let current = 0;

const send = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

const answers: Record<string, (id: number | undefined, progressToken: number | undefined) => void> = {
  next: (id) => {
    current += 1;
    send({ method: 'notifications/tools/list_changed' });
    send({ id, result: text(`list ${current}`) });
  },
  // Says that it has begun.
  hang: (_, progressToken) => send({ method: 'notifications/progress', params: { progressToken, progress: 1 } }),
  cancelled: (id) => send({ id, result: text(JSON.stringify(cancelled)) }),
  exit: () => process.exit(3),
  refuse: (id) => send({ id, error: { code: -32_602, message: 'no such city: Atlantis' } }),
  silent: (id) => send({ id, result: { content: [], isError: true } }),
  empty: (id) => send({ id, result: { content: [] } }),
  structured: (id) => send({ id, result: { content: [], structuredContent: { type: 'text', text: 'a field' } } }),
  both: (id) => send({ id, result: { ...text('21 degrees'), structuredContent: { celsius: 21 } } }),
  wrong: (id) => send({ id, result: { ...text('hot'), structuredContent: { celsius: 'hot' } } }),
  strange: (id) => send({ id, result: { content: [{ type: 'hologram' }] } }),
  audio: (id) => send({ id, result: { content: [{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }] } }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} }: Request = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'raw', version: '1' };
    const capabilities = { tools: { listChanged: true } };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  } else if (method === 'tools/list') {
    const tools = lists[Math.min(current, lists.length - 1)];
    if (!Array.isArray(tools)) {
      send({ id, result: { tools } });
      return;
    }
    // Pages of two.
    const from = Number(params.cursor ?? 0);
    const nextCursor = from + 2 < tools.length ? { nextCursor: String(from + 2) } : {};
    send({ id, result: { tools: tools.slice(from, from + 2), ...nextCursor } });
  } else if (method === 'notifications/cancelled') {
    cancelled.push(params.reason);
  } else if (method === 'tools/call') {
    const answer = answers[params.name ?? ''];
    if (answer === undefined) send({ id, result: text(`ran ${params.name}`) });
    else answer(id, params._meta?.progressToken);
  }
});
