import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AgentOptions,
  type ChatModel,
  type Message,
  ModelError,
  type ModelReply,
  type Session,
  type SessionDocument,
  type TurnError,
  createAgent,
  tool,
} from '../../src/index.ts';
import { replay } from '../../src/testing/index.ts';
import { outsideTool, toolOf } from '../support/tools.ts';
import { outputText } from '../support/transcript.ts';
import { type Command, type Program, type Said, type Trace, attempts, referenceLoop } from './reference-loop.ts';

const ran = (input: object): string => `ran with ${JSON.stringify(input)}`;
const tools = [
  toolOf('ok', ran),
  toolOf('fails', () => {
    throw new Error('Oh no!');
  }),
  tool({ name: 'strict', inputSchema: z.object({ n: z.number() }), execute: ran }),
  toolOf('gated', ran, { needsApproval: true }),
  outsideTool('outside'),
];

const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
const replyOf = (said: Said): ModelReply => {
  const reply = (content: ModelReply['message']['content'], rest: Partial<ModelReply> = {}): ModelReply => ({
    message: { role: 'assistant', content },
    finishReason: 'stop',
    usage,
    ...rest,
  });
  switch (said.type) {
    case 'text':
      return reply(said.text);
    case 'calls':
      return reply(
        said.tools.map((toolName) => ({ type: 'tool-call', toolCallId: '', toolName, input: {} })),
        { finishReason: said.cut ? 'length' : 'tool-calls' },
      );
    case 'empty':
      return reply('');
    case 'refusal':
      return reply('', { refusal: 'no' });
    case 'passing':
    case 'lasting':
      throw new ModelError('model-request-failed', said.type, { transient: said.type === 'passing' });
    default:
      return said satisfies never;
  }
};

const modelOf = (said: readonly Said[]): ChatModel => {
  let next = 0;
  return {
    name: 'scripted',
    generate: async () => {
      next += 1;
      return replyOf(said[next - 1] ?? { type: 'text', text: 'the end' });
    },
  };
};

/** A message as the reference writes it; what an error says is left to other tests. */
const short = ({ role, content }: Message): string => {
  if (typeof content === 'string') return `${role}: ${content}`;
  const parts = content.map((part) => {
    if (part.type === 'tool-call') return `${part.toolCallId} ${part.toolName}${JSON.stringify(part.input)}`;
    if (part.type !== 'tool-result') return part.type === 'text' ? part.text : part.type;
    const status = (part.providerOptions?.['agentchart'] as { status?: string } | undefined)?.status;
    return `${part.toolCallId} ${status ?? `ok ${outputText(part.output)}`}`;
  });
  return `${role}: ${parts.join(', ')}`;
};

const endOf = ({ outcome }: TurnError['result']): string => {
  if (outcome.type === 'limit') return `limit ${outcome.limit}`;
  return outcome.type === 'failed' ? `failed ${outcome.code}` : outcome.type;
};

const optionsOf = (program: Program): AgentOptions => {
  const { said, hold, autopilot, stopOnUnknownTool, maxToolCalls, ...limits } = program;
  const { maxIterations, maxConsecutiveErrors, onLimit } = limits;
  return {
    model: modelOf(said),
    tools,
    autopilot,
    stopOnUnknownTool,
    approvals: { hold },
    limits: { maxIterations, maxConsecutiveErrors, onLimit, ...(maxToolCalls === undefined ? {} : { maxToolCalls }) },
    retry: { attempts, initialDelay: 0 },
  };
};

/** The same program with the real agent. */
const live = async (program: Program): Promise<Trace & { document: SessionDocument }> => {
  const agent = createAgent(optionsOf(program));
  const ends: string[] = [];
  const listen = (each: Session): Session => {
    each.actor.on('finish', ({ result }) => {
      ends.push(endOf(result));
    });
    return each;
  };
  let session = listen(await agent.open());
  let texts = 0;

  const restore = async (): Promise<void> => {
    const document = JSON.stringify(session);
    await session[Symbol.asyncDispose]();
    session = listen(agent.restore(document));
  };
  const post = (mode: 'queue' | 'steer', result?: Message): void => {
    texts += 1;
    const message: Message = { role: 'user', content: `text ${texts}` };
    void session.send(result === undefined ? message : [result, message], { mode });
  };
  const resultOf = (call: { toolCallId: string; toolName: string }): Message => ({
    role: 'tool',
    content: [{ type: 'tool-result', ...call, output: { type: 'text', value: 'by the caller' } }],
  });
  const left = (): Message | undefined => {
    const { round } = session.actor.getSnapshot().context;
    const call = session.status === 'settled' ? round?.calls[0] : undefined;
    return call === undefined ? undefined : resultOf({ toolCallId: call.callId, toolName: call.tool });
  };
  const obey = async (command: Command): Promise<void> => {
    const { pending } = session;
    const callId = 'at' in command ? (pending[command.at % pending.length]?.callId ?? '') : '';
    switch (command.do) {
      case 'message':
        post('queue', command.results ? left() : undefined);
        for (const mode of command.more) post(mode);
        if (command.then === 'stop') await session.stop();
        if (command.then === 'restore') await restore();
        return undefined;
      case 'approve':
        return session.approve(
          callId,
          command.edit === 'none' ? {} : { input: command.edit === 'fits' ? { n: 2 } : 'no object' },
        );
      case 'reject':
        return session.reject(callId, { reason: 'no' });
      case 'respond':
        return session.respond(callId, 'by hand');
      case 'cancel':
        return session.cancel(callId);
      case 'stop':
        return session.stop();
      case 'retry':
        return session.retry();
      case 'restore':
        return restore();
      default:
        return command satisfies never;
    }
  };
  for (const command of program.commands) {
    // What does not apply is refused, and changes nothing.
    await obey(command).catch(() => undefined);
    if (session.status !== 'idle') await session.settled().catch(() => undefined);
  }
  const { context } = session.actor.getSnapshot();
  const trace = {
    messages: session.messages.map(short),
    ends,
    replies: (context.usage.inputTokens ?? 0) / usage.inputTokens,
    pending: session.pending.map(({ callId }) => callId),
    document: session.toJSON(),
  };
  expect(context.usage.totalTokens ?? 0).toBe(trace.replies * usage.totalTokens);
  await session[Symbol.asyncDispose]();
  return trace;
};

const toolName = fc.constantFrom('ok', 'ok', 'fails', 'strict', 'unknown', 'gated', 'gated', 'outside' as const);
const said: fc.Arbitrary<Said> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('calls' as const),
      tools: fc.array(toolName, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<
        Extract<Said, { type: 'calls' }>['tools']
      >,
      cut: fc.constantFrom(false, false, false, false, true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('text' as const), text: fc.constantFrom('one', 'two') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'empty' as const,
        'empty' as const,
        'refusal' as const,
        'passing' as const,
        'lasting' as const,
      ),
    }),
  },
);
const at = fc.nat(3);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('message' as const),
      more: fc.array(fc.constantFrom('queue' as const, 'steer' as const), { maxLength: 2 }),
      then: fc.constantFrom(
        'nothing' as const,
        'nothing' as const,
        'nothing' as const,
        'stop' as const,
        'restore' as const,
      ),
      results: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('approve' as const),
      at,
      edit: fc.constantFrom('none' as const, 'none' as const, 'fits' as const, 'does not fit' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('reject' as const, 'respond' as const, 'cancel' as const), at }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('stop' as const, 'retry' as const, 'retry' as const, 'restore' as const),
    }),
  },
);

const program: fc.Arbitrary<Program> = fc.record({
  said: fc.array(said, { maxLength: 10 }),
  commands: fc
    .tuple(
      fc.constant<Command>({ do: 'message', more: [], then: 'nothing', results: false }),
      fc.array(command, { maxLength: 9 }),
    )
    .map(([first, rest]) => [first, ...rest]),
  hold: fc.constantFrom('all' as const, 'gated' as const),
  autopilot: fc.constantFrom(true, true, true, true, false),
  stopOnUnknownTool: fc.constantFrom(false, false, false, true),
  maxIterations: fc.integer({ min: 1, max: 3 }),
  maxConsecutiveErrors: fc.nat(2),
  maxToolCalls: fc.constantFrom(undefined, undefined, 2, 4),
  onLimit: fc.constantFrom('finalize' as const, 'pause' as const, 'fail' as const),
});

/** So often that 1,000 programs meet every one of them. */
const everyEnd = [
  'answered',
  'failed empty-reply',
  'failed error-limit',
  'failed iteration-limit',
  'failed model-error',
  'failed tool-call-limit',
  'failed unknown-tool',
  'limit maxIterations',
  'limit maxToolCalls',
  'refused',
  'stopped',
  'tool-calls',
];

test('R3, R6, R18–R22, R27, R33–R35, R42, R45: whatever comes from outside, the session does what a plain loop does', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
  const numRuns = Number(process.env['RUNS'] ?? 1000);
  const met: string[] = [];
  console.log(`${numRuns} programs, SEED=${seed}`);
  await fc.assert(
    fc.asyncProperty(program, async (given) => {
      const expected = referenceLoop(given);
      met.push(...expected.ends);
      const { document: _, ...trace } = await live(given);
      expect(trace).toEqual(expected);
    }),
    { numRuns, seed },
  );
  console.log([...Map.groupBy(met, (end) => end)].map(([end, all]) => `${end}: ${all.length}`).join(', '));
  if (numRuns >= 1000) expect([...new Set(met)].toSorted()).toEqual(everyEnd);
});

test('a session that nobody asked to go on by `retry` is replayed without a divergence', async () => {
  // The same programs each time: where replies left no message, a document does not always say which turn they were of.
  const seed = Number(process.env['SEED'] ?? 1);
  const numRuns = Number(process.env['RUNS'] ?? 1000) / 5;
  await fc.assert(
    fc.asyncProperty(program, async ({ commands, ...rest }) => {
      const given = { ...rest, commands: commands.filter((each) => each.do !== 'retry') };
      const { document } = await live(given);
      expect(await replay(document, optionsOf(given))).not.toHaveProperty('divergence');
    }),
    { numRuns, seed },
  );
});
