import type { Task } from './task.ts';

/** Runs the task once, from the question to the checked answer. */
export type Run = () => Promise<void>;

/** One kit. What it cannot do is left out, and stands so in the table. */
export interface Contender {
  /** Packages whose versions the table names. */
  packages: readonly string[];
  prepare(task: Task): Run | Promise<Run>;
  /** Streams the one reply of the task and counts the pieces of its text: throws where they are not `deltas`. */
  stream?(task: Task, deltas: readonly string[]): Run | Promise<Run>;
  /** Starts a run that stops to ask somebody, and gives what must stay in memory until there is a decision. */
  pause?(task: Task): (() => Promise<unknown>) | Promise<() => Promise<unknown>>;
  /** The same where nobody holds the run: the ways to keep it, by a name for each. */
  asleep?(task: Task): Record<string, () => Promise<unknown>>;
  /** The JSON of a run of `messages` messages that waits for a decision, and what makes a live run of it again and approves it. */
  resume?(
    task: Task,
  ): Promise<{ json: string; wake(json: string): Promise<unknown>; finish(json: string): Promise<void> }>;
  /** A stored session of so many messages: opens it, or only reads and parses its messages. */
  long?(messages: number): Promise<{ open(): Promise<unknown>; read(): Promise<unknown> }>;
  /** Stores a run that waits for a decision; as a later process, opens it, approves, and takes the answer. */
  waiting?(task: Task): { begin(id: string): Promise<void>; decide(id: string): Promise<void> };
  /** Every step of a run is in a file before the next begins. */
  isStored?: true;
}
