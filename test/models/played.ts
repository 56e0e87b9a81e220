import type { ModelReply } from '../../src/models/chat-model.ts';
import type { ModelError } from '../../src/models/model-error.ts';
import { delta, startReplayServer, type ScriptedReply } from '../support/replay-server.ts';
import { askStreamed, thrownBy } from './ask.ts';

/** The reply that a streamed request gets. */
export const played = async (reply: ScriptedReply, toolNames: string[] = []): Promise<ModelReply> => {
  await using server = await startReplayServer([reply]);
  const tools = toolNames.map((name) => ({ name, inputSchema: { type: 'object' } }));
  return (await askStreamed(server, { tools })).reply;
};

/** What a streamed request fails with. */
export const failed = async (reply: ScriptedReply): Promise<ModelError | Error> => {
  await using server = await startReplayServer([reply]);
  return await thrownBy(askStreamed(server));
};

/** The chunk of a whole short answer. */
export const hi = delta({ content: 'hi' }, 'stop');
