import type { Row } from './row.ts';

/** The function-invoking chat client: what follows from its source. */
export const edgeCaseRows: readonly Row[] = [
  { id: 'D01', reference: 'forced choice for the first request only', agentchart: 'same' },
  { id: 'D03', reference: 'other choices stay', agentchart: 'same' },
  {
    id: 'D04',
    reference: 'with a conversation id the second request holds only results',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  {
    id: 'D06',
    reference: 'the latest id is sent',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  {
    id: 'D07',
    reference: 'an id without options makes options',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  {
    id: 'D09',
    reference: 'a call without any tools: not found, or returned by flag',
    agentchart: 'not found; by flag the turn fails with the call answered',
    why: 'R6',
  },
  {
    id: 'D10',
    reference: 'three failing rounds are told, the fourth throws',
    agentchart: 'same, as an outcome',
    why: 'R20',
  },
  {
    id: 'D12',
    reference: 'the error is thrown after all calls ran',
    agentchart: 'same; it stands in the outcome',
    why: 'R20',
  },
  {
    id: 'D13',
    reference: 'a round of unknown tools sets the count to 0',
    agentchart: 'it counts as failing',
    why: 'R19',
  },
  {
    id: 'D15',
    reference: 'the run throws, no result',
    agentchart: 'the outcome is stopped, the call has a result',
    why: 'R6',
  },
  {
    id: 'D16',
    reference: 'siblings of a terminating call have results when parallel',
    agentchart: 'always',
    why: 'R6',
  },
  { id: 'D18', reference: 'terminate and throw: the loop goes on', agentchart: 'same' },
  {
    id: 'D19',
    reference: 'a result object with an error counts',
    agentchart: 'a result that says it is an error counts',
  },
  {
    id: 'D21',
    reference: 'id and finish reason are those of the last response',
    agentchart: "each model call keeps its own; the last is the turn's",
  },
  { id: 'D22', reference: 'usage is summed, with gaps', agentchart: 'same: what nobody counted is absent' },
  { id: 'D24', reference: 'a call after the cap is returned open', agentchart: 'it is answered, not run', why: 'R6' },
  {
    id: 'D25',
    reference: 'a doubled approval runs the call twice',
    agentchart: 'once: the second is a no-op',
    why: 'R29',
  },
  {
    id: 'D27',
    reference: 'a response before its request is an error',
    agentchart: 'refused as unknown; the call is asked for all the same',
  },
  {
    id: 'D28',
    reference: 'approved, but there is no such tool: not found',
    agentchart: 'same, also where the tool is gone after a restore',
  },
  {
    id: 'D30',
    reference: 'an approved call fails: thrown before any request',
    agentchart: 'the turn fails with no further model call',
    why: 'R20',
  },
  { id: 'D31', reference: 'it counts for the next round', agentchart: 'same' },
  { id: 'D33', reference: 'rejected calls come first', agentchart: 'call order', why: 'R6' },
  { id: 'D34', reference: 'approved calls run in parallel', agentchart: 'same' },
  {
    id: 'D36',
    reference: 'a blank conversation id is none',
    leftOut: 'later: an adapter for the Responses API; the session always holds the history itself',
  },
  {
    id: 'D37',
    reference: 'updates of one request share an id',
    agentchart: 'one tool message for each round, ids that no other round has',
  },
  { id: 'D39', reference: 'text after a call is withheld', agentchart: 'it is shown at once', why: 'as A27' },
  { id: 'D40', reference: 'a twin that needs approval makes the plain tool ask', agentchart: 'same' },
  {
    id: 'D42',
    reference: 'missing answers are an error',
    agentchart: 'the turn waits and names what is missing',
    why: 'R27',
  },
  { id: 'D43', reference: 'a failing tool marks its span', leftOut: 'later: telemetry' },
  {
    id: 'D45',
    reference: 'setters refuse numbers out of bounds',
    agentchart: 'same, for every setting and for one run',
    why: 'R1',
  },
];
