import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { lostAnswer } from './connection-error.ts';

type Transport = StreamableHTTPClientTransport;
type Send = Transport['send'];

/**
 * The SDK does not tell a request that the stream of its answer broke and could not be resumed: the call would hang until its
 * timeout. Here it is answered with an error instead. The answers of other requests, and requests to come, are not touched.
 */
export const answerLostRequests = (transport: Transport): Transport => {
  const open = new Set<string | number>();
  const send: Send = transport.send.bind(transport);
  const start = transport.start.bind(transport);
  transport.start = () => {
    // The client has put its own handler here by now.
    const deliver = transport.onmessage;
    transport.onmessage = (message) => {
      if (!('method' in message) && message.id !== undefined) open.delete(message.id);
      deliver?.(message);
    };
    return start();
  };
  transport.send = (message, options) => {
    if (Array.isArray(message) || !('method' in message) || !('id' in message)) return send(message, options);
    const { id } = message;
    open.add(id);
    const onRequestStreamEnd = (): void => {
      if (open.delete(id)) transport.onmessage?.({ jsonrpc: '2.0', id, error: lostAnswer });
    };
    return send(message, { ...options, onRequestStreamEnd }).catch((error: unknown) => {
      open.delete(id);
      throw error;
    });
  };
  return transport;
};
