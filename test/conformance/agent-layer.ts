import type { Row } from './row.ts';

/** The agent layer above the chat client. */
export const agentLayerRows: readonly Row[] = [
  { id: 'M01', reference: 'an in-memory history by default', agentchart: 'a session' },
  { id: 'M03', reference: 'the run is stored once, at its end', agentchart: 'after it the store holds all of it' },
  {
    id: 'M04',
    reference: 'stored after each request to the service',
    agentchart: 'a durable store holds the round before the model is asked again',
    why: 'R38: storing is tied to effects, not to requests',
  },
  { id: 'M06', reference: 'what was stored before a failure stays', agentchart: 'same; `retry` goes on from there' },
  {
    id: 'M07',
    reference: 'a service that keeps the history replaces the default',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  {
    id: 'M09',
    reference: 'ids of session and options must agree',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  {
    id: 'M10',
    reference: 'a session can be serialised; other JSON is refused',
    agentchart: 'same, as one document; refusals are typed',
  },
  {
    id: 'M12',
    reference: 'a bag of named values in the session',
    leftOut: 'later: context providers; `context` belongs to the application and is never stored',
  },
  {
    id: 'M13',
    reference: 'two providers with one key are refused',
    leftOut: 'later: pipeline (context and history providers)',
  },
  {
    id: 'M20',
    reference: 'a context provider sees and adds messages',
    leftOut: 'later: pipeline (context and history providers)',
  },
  {
    id: 'M21',
    reference: 'several providers, in order, told of the end',
    leftOut: 'later: pipeline (context and history providers)',
  },
  {
    id: 'M23',
    reference: 'a history provider with filters',
    leftOut: 'later: pipeline (context and history providers)',
  },
  { id: 'M24', reference: 'when a reducer runs', leftOut: 'later: compaction' },
  { id: 'M31', reference: 'no options reach the client', agentchart: 'only the messages are sent' },
  {
    id: 'M32',
    reference: "run options win over the agent's",
    agentchart: 'same for settings, limits and tool choice, field by field',
    why: "the answer's schema belongs to the agent, so that its type is known",
  },
  { id: 'M40', reference: 'no approval content in the stored history', agentchart: 'same' },
  {
    id: 'M41',
    reference: 'request and response are stored',
    agentchart: 'neither is; who decided stands in the log',
    why: 'R31',
  },
  { id: 'M43', reference: 'a rejection is stored as a result and sent', agentchart: 'same' },
  {
    id: 'M44',
    reference: 'responses are bound to recorded requests',
    agentchart: 'decisions are; what was shown or given can be changed without effect',
  },
  {
    id: 'M46',
    reference: 'by option runnable calls of a mixed reply run one turn later',
    agentchart: 'they run at once, in the same turn',
    why: 'R13',
  },
  {
    id: 'M47',
    reference: 'standing rules for a tool or for exact arguments',
    agentchart: '`remember`, by canonical JSON',
  },
  {
    id: 'M49',
    reference: 'rules that approve by themselves, after the standing ones',
    agentchart: 'one `policy`, after what is remembered',
    why: 'no second run of the agent is needed, so no cap of its own',
  },
  { id: 'M50', reference: 'messages queued while it runs', agentchart: '`steer` and `queue`' },
  { id: 'M70', reference: 'delegates around a run', leftOut: 'later: pipeline (middleware around turns)' },
  {
    id: 'M71',
    reference: 'delegates around a function',
    agentchart: '`toolMiddleware`: changes arguments and result, skips the tool, fails it',
  },
  { id: 'M80', reference: 'an evaluator runs the agent again', leftOut: 'later: evaluators' },
  { id: 'M90', reference: 'groups of messages', leftOut: 'later: compaction' },
  { id: 'M92', reference: 'a provider that compacts', leftOut: 'later: compaction' },
];
