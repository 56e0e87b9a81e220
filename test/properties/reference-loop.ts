/** What the scripted model says. `cut`: the reply reached its length limit. */
export type Said =
  | { type: 'text'; text: string }
  | { type: 'calls'; tools: Tool[]; cut: boolean }
  | { type: 'empty' | 'refusal' | 'passing' | 'lasting' };
export type Tool = 'ok' | 'fails' | 'strict' | 'unknown' | 'gated' | 'outside';

/** What somebody outside does next; what does not apply where it comes is passed over. `at` counts from the first pending call, round and round. */
export type Command =
  | { do: 'message'; more: ('queue' | 'steer')[]; then: 'nothing' | 'stop' | 'restore'; results: boolean }
  | { do: 'approve'; at: number; edit: 'none' | 'fits' | 'does not fit' }
  | { do: 'reject' | 'respond' | 'cancel'; at: number }
  | { do: 'stop' | 'retry' | 'restore' };

export interface Program {
  said: Said[];
  commands: Command[];
  hold: 'all' | 'gated';
  autopilot: boolean;
  stopOnUnknownTool: boolean;
  maxIterations: number;
  maxConsecutiveErrors: number;
  maxToolCalls: number | undefined;
  onLimit: 'finalize' | 'pause' | 'fail';
}

/** What is compared: the history in short, the ends of the turns, the replies that were paid for, the calls that wait. */
export interface Trace {
  messages: string[];
  ends: string[];
  replies: number;
  pending: string[];
}

interface Call {
  id: string;
  tool: Tool;
  input: string;
  /** Approved: it runs when it may. */
  isApproved: boolean;
  result?: string;
}

const noCalls: { tools: Tool[]; cut: boolean } = { tools: [], cut: false };

export const attempts = 2;
export const edited = '{"n":2}';

/** The loop, told once more in plain words: no chart, no actor, nothing at the same time. */
export const referenceLoop = (program: Program): Trace => {
  const { hold, autopilot, stopOnUnknownTool, maxIterations, maxConsecutiveErrors, maxToolCalls, onLimit } = program;
  const messages: string[] = [];
  const ends: string[] = [];
  const said = [...program.said];
  const commands = [...program.commands];
  let inbox: { text: string; mode: 'queue' | 'steer'; result?: string }[] = [];
  let [texts, rounds, replies] = [0, 0, 0];
  let open: Call[] = [];
  let end = '';
  let [iterations, granted, errors, calls] = [0, 0, 0, 0];
  let finalizing = false;

  const ask = (): Said => {
    const next = said.shift() ?? { type: 'text', text: 'the end' };
    if (next.type !== 'passing' && next.type !== 'lasting') replies += 1;
    return next;
  };
  const post = (mode: 'queue' | 'steer', result?: string): void => {
    texts += 1;
    inbox.push({ text: `text ${texts}`, mode, ...(result === undefined ? {} : { result }) });
  };
  const openRound = (tools: Tool[]): void => {
    rounds += 1;
    open = tools.map((tool, index) => ({ id: `call_${rounds}_${index}`, tool, input: '{}', isApproved: false }));
  };
  const closeRound = (otherwise: string): void => {
    messages.push(`assistant: ${open.map(({ id, tool, input }) => `${id} ${tool}${input}`).join(', ')}`);
    messages.push(`tool: ${open.map(({ id, result }) => `${id} ${result ?? otherwise}`).join(', ')}`);
    open = [];
  };
  const steer = (): void => {
    messages.push(...inbox.filter(({ mode }) => mode === 'steer').map(({ text }) => `user: ${text}`));
    inbox = inbox.filter(({ mode }) => mode === 'queue');
  };
  const limit = (name: string, code: string): string => (onLimit === 'fail' ? `failed ${code}` : `limit ${name}`);

  const undecided = (): Call[] =>
    open.filter(({ tool, isApproved, result }) => tool === 'gated' && !isApproved && result === undefined);
  const pending = (): Call[] => {
    const waiting = undecided();
    const isHeld = hold === 'all' && waiting.length > 0;
    return open.filter(
      (call) => waiting.includes(call) || (call.tool === 'outside' && call.result === undefined && !isHeld),
    );
  };
  const run = (): void => {
    if (hold === 'all' && undecided().length > 0) return;
    for (const call of open) {
      if (call.result !== undefined) continue;
      if (call.tool === 'ok' || (call.tool === 'gated' && call.isApproved)) call.result = `ok ran with ${call.input}`;
      if (call.tool === 'fails') call.result = 'failed';
    }
  };

  /** Runs the calls and hears people until all have their results. True: it goes on; false: it was stopped, or nobody decides. */
  const settle = (): boolean => {
    for (const call of open) if (call.tool === 'strict' || call.tool === 'unknown') call.result = 'failed';
    for (run(); open.some(({ result }) => result === undefined); run()) {
      const command = commands.shift();
      if (command === undefined) return false;
      const waiting = pending();
      const call = 'at' in command ? waiting[command.at % waiting.length] : undefined;
      if (command.do === 'message') for (const _ of [0, ...command.more]) post('steer');
      if (command.do === 'stop' || (command.do === 'message' && command.then === 'stop')) {
        closeRound('stopped');
        iterations += 1;
        end = 'stopped';
        return false;
      }
      if (call === undefined) continue;
      if (command.do === 'respond') call.result = 'ok by hand';
      if (command.do === 'cancel') call.result = 'cancelled';
      if (call.tool !== 'gated') continue;
      if (command.do === 'reject') call.result = 'rejected';
      if (command.do === 'approve' && command.edit !== 'does not fit') {
        call.isApproved = true;
        if (command.edit === 'fits') call.input = edited;
      }
    }
    return true;
  };

  /** Asks and acts until the turn ends, or waits with nobody there who decides. */
  const goOn = (): void => {
    for (let [tries, empty] = [0, 0]; ;) {
      const reply = ask();
      if (reply.type === 'passing' || reply.type === 'lasting') {
        tries += 1;
        if (reply.type === 'passing' && tries < attempts) continue;
        end = 'failed model-error';
        return;
      }
      if (reply.type === 'refusal') {
        end = 'refused';
        return;
      }
      const { tools, cut } = reply.type === 'calls' ? reply : noCalls;
      if (finalizing) {
        if (tools.length > 0) {
          openRound(tools);
          closeRound('stopped');
        }
        if (reply.type === 'text') messages.push(`assistant: ${reply.text}`);
        end = 'limit maxIterations';
        return;
      }
      if (reply.type === 'empty') {
        empty += 1;
        tries = 0;
        if (empty === 1) continue;
        end = 'failed empty-reply';
        return;
      }
      if (reply.type === 'text') {
        messages.push(`assistant: ${reply.text}`);
        end = 'answered';
        return;
      }
      openRound(tools);
      const isTooMany = maxToolCalls !== undefined && calls + tools.length > maxToolCalls;
      if (!autopilot) {
        calls += tools.length;
        end = 'tool-calls';
        return;
      }
      if (isTooMany || (stopOnUnknownTool && tools.includes('unknown'))) {
        closeRound('stopped');
        end = isTooMany ? limit('maxToolCalls', 'tool-call-limit') : 'failed unknown-tool';
        return;
      }
      calls += tools.length;
      if (cut) for (const call of open) call.result = 'failed';
      else if (!settle()) return;
      errors = open.some(({ result }) => result === 'failed') ? errors + 1 : 0;
      closeRound('');
      iterations += 1;
      [tries, empty] = [0, 0];
      if (errors > maxConsecutiveErrors) {
        end = 'failed error-limit';
        return;
      }
      if (iterations >= maxIterations + granted) {
        if (onLimit !== 'finalize') {
          end = limit('maxIterations', 'iteration-limit');
          return;
        }
        finalizing = true;
      }
      steer();
    }
  };

  const startTurn = (): void => {
    const next = inbox.shift();
    if (next === undefined) return;
    if (open.length > 0) {
      if (next.result !== undefined && open[0] !== undefined) open[0].result = next.result;
      closeRound('cancelled');
    }
    messages.push(`user: ${next.text}`);
    [iterations, granted, errors, calls] = [0, 0, 0, 0];
    finalizing = false;
  };
  const resume = (): void => {
    if (end.startsWith('limit') || iterations >= maxIterations + granted) granted = iterations;
    [errors, calls] = [0, 0];
    finalizing = false;
    steer();
  };

  /** Turn after turn, until nothing is left to read. False: the last one waits. */
  const work = (isStopped: boolean): void => {
    for (let stops = isStopped; ; stops = false) {
      end = stops ? 'stopped' : '';
      if (!stops) goOn();
      if (end === '') return;
      ends.push(end);
      if (end === 'stopped') inbox = [];
      if (inbox.length === 0 || end.startsWith('failed')) return;
      startTurn();
    }
  };

  while (commands.length > 0) {
    const command = commands.shift();
    if (command?.do === 'message') {
      const results = command.results && open.length > 0 ? 'ok by the caller' : undefined;
      post('queue', results);
      startTurn();
      for (const mode of command.more) post(mode);
      work(command.then === 'stop');
    }
    const mayResume = /^(failed|stopped|refused)/.test(end) || (end.startsWith('limit') && !finalizing);
    if (command?.do === 'retry' && mayResume) {
      resume();
      work(false);
    }
  }
  return { messages, ends, replies, pending: end === 'tool-calls' ? [] : pending().map(({ id }) => id) };
};
