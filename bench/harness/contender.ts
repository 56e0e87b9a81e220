import type { Task } from './task.ts';

/** Runs the task once, from the question to the checked answer. */
export type Run = () => Promise<void>;

/** A run whose session is kept outside of the process's memory. */
export interface KeptRun {
  run: Run;
  /** Bytes that were written so far, by the counters of the store or the size of its files. */
  written(): number;
  /** Bytes of the session's messages as JSON, as the contender has them. */
  messageBytes(): number | Promise<number>;
  close(): void | Promise<void>;
}

/** One kit. What it cannot do is left out, and stands so in the table. */
export interface Contender {
  /** Packages whose versions the table names. */
  packages: readonly string[];
  prepare(task: Task): Run | Promise<Run>;
  /** Streams the one reply of the task and counts the pieces of its text: throws where they are not `deltas`. */
  stream?(task: Task, deltas: readonly string[]): Run | Promise<Run>;
  /** Starts a run that stops to ask somebody, and gives what must stay in memory until there is a decision. */
  pause?(task: Task): (() => Promise<unknown>) | Promise<() => Promise<unknown>>;
  /** The JSON of a run of `messages` messages that waits for a decision, and what makes a live run of it again and approves it. */
  resume?(
    task: Task,
  ): Promise<{ json: string; wake(json: string): Promise<unknown>; finish(json: string): Promise<void> }>;
  /** A run whose every step is stored in the file. */
  keep?(task: Task, path: string): KeptRun | Promise<KeptRun>;
  /** Opens a stored session of these many messages, and tells how many it holds. */
  open?(count: number, folder: string): Promise<{ open: () => Promise<number>; parse: () => number }>;
}
