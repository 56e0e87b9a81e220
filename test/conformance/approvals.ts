import type { Row } from './row.ts';

/** The function-invoking chat client: approvals. */
export const approvalRows: readonly Row[] = [
  {
    id: 'A01',
    reference: 'both calls become requests',
    agentchart: 'both wait; the result lists what would run',
    why: 'a pending call is state, not content of a message',
  },
  {
    id: 'A03',
    reference: 'both calls become requests, one marked as needing it',
    agentchart: 'both are held, one is asked',
    why: 'R26',
  },
  {
    id: 'A04',
    reference: 'found inside other wrappers',
    agentchart: 'a copy of a tool keeps its `needsApproval`',
    why: 'tools are plain data, wrapping is copying',
  },
  {
    id: 'A06',
    reference: 'the reply and its results are rebuilt from requests and responses',
    agentchart: 'one assistant message, one tool message',
    why: 'the reply was never taken apart',
  },
  {
    id: 'A07',
    reference: 'without a message id still one assistant message',
    agentchart: 'same, also over a restore and one by one',
  },
  { id: 'A09', reference: 'two default rejection texts', agentchart: 'same' },
  { id: 'A10', reference: 'rejections first, then results', agentchart: 'results in call order', why: 'R6' },
  { id: 'A12', reference: 'reasons, default text, result', agentchart: 'same, in call order', why: 'R6' },
  { id: 'A13', reference: 'blank reasons count as none', agentchart: 'same' },
  {
    id: 'A15',
    reference: 'old approvals are dropped from what is sent',
    agentchart: 'they were never in it; only the new call runs',
    why: 'R31',
  },
  {
    id: 'A16',
    reference: 'both copies of a rejected call are flagged',
    agentchart: 'a rejected call is settled for good',
    why: 'sessions are compared by state, not by object',
  },
  { id: 'A18', reference: 'an approval tool that is not called changes nothing', agentchart: 'same' },
  {
    id: 'A19',
    reference: 'a request without a response is an error',
    agentchart: 'the call still waits; the message is queued',
    why: 'R33',
  },
  {
    id: 'A21',
    reference: 'with a conversation id only results are sent',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  {
    id: 'A22',
    reference: 'the same with a message behind',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  { id: 'A24', reference: 'a message after the response stands last', agentchart: 'same' },
  {
    id: 'A25',
    reference: 'the response and text in one message are parted',
    agentchart: 'a decision and a message sent together: the message stands last',
    why: 'a decision is no content of a message',
  },
  {
    id: 'A27',
    reference: 'calls are withheld until the stream ends',
    agentchart: 'each piece is shown at once',
    why: 'nothing is run before the reply is whole, so nothing need be hidden',
  },
  {
    id: 'A28',
    reference: 'text passes, calls are held until one needs approval',
    agentchart: 'text passes; requests come when the reply is whole',
    why: 'R5: only then is it known that the calls are whole',
  },
  {
    id: 'A30',
    reference: 'the rebuilt message keeps its id',
    agentchart: 'what the provider said of its reply is kept',
    why: 'messages have no id of ours',
  },
  {
    id: 'A31',
    reference: "approval requests of a provider's own tools are left alone",
    leftOut: 'later: an adapter for the Responses API (Chat Completions has no such requests)',
  },
  {
    id: 'A33',
    reference: 'their responses are passed on',
    leftOut: 'later: an adapter for the Responses API (Chat Completions has no such requests)',
  },
];
