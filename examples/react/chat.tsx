// A page with `useChat` of the AI SDK; the agent is on the server, behind `createHandler` of agentchart/server.
import { useChat } from '@ai-sdk/react';
import { hasAllDecisions } from 'agentchart/ai-sdk';
import { DefaultChatTransport, type UIMessage, getToolName, isToolUIPart } from 'ai';
import { useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { Ask } from './ask.tsx';
import { Decision } from './decision.tsx';

const api = '/agent/chat';
// The chat's id is in the address: a page that is loaded again goes on with it.
if (location.hash === '') location.hash = crypto.randomUUID();
const id = location.hash.slice(1);

const Chat = ({ loaded }: { loaded: UIMessage[] }) => {
  // Changed arguments go with the next request, under the id of their approval.
  const edits = useRef<Record<string, unknown>>({});
  const transport = useRef(new DefaultChatTransport({ api, body: () => ({ edits: edits.current }) }));
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useChat({
    id,
    messages: loaded,
    transport: transport.current,
    // Joins the turn that is under way, or is told how it ended.
    resume: true,
    sendAutomaticallyWhen: hasAllDecisions,
  });
  const isWaiting = messages.some(({ parts }) =>
    parts.some((part) => isToolUIPart(part) && part.state === 'approval-requested'),
  );
  return (
    <>
      {messages.map((message) => (
        <section key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => {
            if (part.type === 'text') return <p key={index}>{part.text}</p>;
            if (!isToolUIPart(part)) return null;
            const { toolCallId, state, input, output } = part;
            return (
              <div key={toolCallId} data-call={toolCallId} data-state={state}>
                <code>
                  {getToolName(part)} {JSON.stringify(input)} {output === undefined ? state : JSON.stringify(output)}
                </code>
                {state === 'approval-requested' && (
                  <Decision
                    tool={getToolName(part)}
                    input={input}
                    approve={(edited) => {
                      edits.current[part.approval.id] = edited;
                      void addToolApprovalResponse({ id: part.approval.id, approved: true });
                    }}
                    reject={(reason) => void addToolApprovalResponse({ id: part.approval.id, approved: false, reason })}
                  />
                )}
              </div>
            );
          })}
        </section>
      ))}
      <p role="status">{error?.message ?? status}</p>
      <Ask isOff={status !== 'ready' || isWaiting} send={(text) => void sendMessage({ text })} />
    </>
  );
};

const response = await fetch(`${api}/${encodeURIComponent(id)}`);
const { messages = [] }: { messages?: UIMessage[] } = await response.json();
const root = document.querySelector('#root');
if (root !== null) createRoot(root).render(<Chat loaded={messages} />);
