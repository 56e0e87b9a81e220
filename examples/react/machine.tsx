// A page in which the agent itself runs: its machine in `useMachine`, like any other machine.
import { useMachine } from '@xstate/react';
import { type Message, createAgent, pendingOf, tool } from 'agentchart';
import { openaiChat } from 'agentchart/openai';
import { createRoot } from 'react-dom/client';
import { z } from 'zod';
import { Ask } from './ask.tsx';
import { Decision } from './decision.tsx';

const rain: Record<string, number> = { Suzhou: 80, Hangzhou: 10 };
const getWeather = tool({
  name: 'GetWeather',
  inputSchema: z.object({ location: z.string() }),
  execute: ({ location }) => ({ location, condition: 'clouds', rainChance: rain[location] ?? 0 }),
});
const bookTrain = tool({
  name: 'BookTrain',
  inputSchema: z.object({ from: z.string(), to: z.string(), seats: z.number().int().min(1) }),
  needsApproval: true,
  execute: ({ to, seats }) => ({ train: 'G7349', to, price: 73 * seats }),
});

// The page asks its own server, which has the key: a page must not hold one.
const model = openaiChat({ model: 'scripted', baseURL: `${location.origin}/v1` });
const agent = createAgent({ model, tools: [getWeather, bookTrain] });

const textOf = ({ role, content }: Message): string =>
  typeof content === 'string'
    ? `${role}: ${content}`
    : `${role}: ${content.map((part) => ('text' in part ? part.text : JSON.stringify(part))).join(' ')}`;

const App = () => {
  const [snapshot, send] = useMachine(agent.machine, { input: {} });
  const { context } = snapshot;
  return (
    <>
      <p role="status">{JSON.stringify(snapshot.value)}</p>
      {context.messages.map((message, index) => (
        <p key={index} data-role={message.role}>
          {textOf(message)}
        </p>
      ))}
      {context.round?.calls.map(({ callId, tool: name, phase }) => (
        <p key={callId} data-call={callId}>
          {name} {phase}
        </p>
      ))}
      {pendingOf(context).map(({ callId, inputHash, tool: name, input }) => (
        <Decision
          key={callId}
          tool={name}
          input={input}
          approve={(edited) => send({ type: 'approval.granted', callId, inputHash, input: edited })}
          reject={(reason) => send({ type: 'approval.rejected', callId, inputHash, reason })}
        />
      ))}
      {snapshot.hasTag('busy') && <button onClick={() => send({ type: 'turn.stop' })}>Stop</button>}
      <Ask isOff={snapshot.hasTag('busy')} send={(content) => send({ type: 'user.message', content })} />
    </>
  );
};

const root = document.querySelector('#root');
if (root !== null) createRoot(root).render(<App />);
