/** One reply of the scripted model, in words that every contender turns into its own. */
export interface Reply {
  text?: string;
  calls?: { id: string; input: LookupInput }[];
}

export interface LookupInput {
  id: number;
  note: string;
}

export const toolName = 'lookup';
export const toolDescription = 'Looks up one entry.';
export const question = 'Look everything up, then answer.';

/** What all contenders do in one run: the same replies, the same tool. Counts what really happened. */
export interface Task {
  readonly replies: readonly Reply[];
  /** The calls that the replies ask for. */
  readonly calls: number;
  /** The place of the next reply; the model of every contender asks this, once for each of its calls. */
  next(): number;
  execute(input: LookupInput): string | Promise<string>;
  /** When the model was asked, in ms of `performance.now()`. */
  readonly asked: readonly number[];
  begin(): void;
  /** Throws where a run ended with another answer, or with more or fewer calls, than the script says. */
  check(text: string): void;
}

export interface TaskOptions {
  replies: readonly Reply[];
  execute(input: LookupInput): string | Promise<string>;
}

export const createTask = ({ replies, execute }: TaskOptions): Task => {
  const calls = replies.reduce((sum, reply) => sum + (reply.calls?.length ?? 0), 0);
  const answer = replies.at(-1)?.text ?? '';
  const asked: number[] = [];
  let executed = 0;
  return {
    replies,
    calls,
    asked,
    next: () => {
      const index = asked.push(performance.now()) - 1;
      if (index >= replies.length)
        throw new Error(`the model was asked ${index + 1} times, the script has ${replies.length} replies`);
      return index;
    },
    execute: (input) => {
      // A contender that hands on what it did not check would not have these.
      if (typeof input.id !== 'number' || typeof input.note !== 'string')
        throw new Error('the tool got other arguments');
      executed += 1;
      return execute(input);
    },
    begin: () => {
      asked.length = 0;
      executed = 0;
    },
    check: (text) => {
      if (text !== answer) throw new Error(`the answer was ${JSON.stringify(text)}, not ${JSON.stringify(answer)}`);
      if (executed !== calls) throw new Error(`${executed} calls ran, not ${calls}`);
      if (asked.length !== replies.length)
        throw new Error(`the model was asked ${asked.length} times, not ${replies.length}`);
    },
  };
};

/** `rounds` replies with `calls` calls each, then the answer. */
export const roundsOf = (rounds: number, calls = 1): Reply[] => [
  ...Array.from({ length: rounds }, (_, round) => ({
    calls: Array.from({ length: calls }, (__, index) => ({
      id: `call_${round}_${index}`,
      input: { id: round * calls + index, note: 'as asked' },
    })),
  })),
  { text: 'All is looked up.' },
];
