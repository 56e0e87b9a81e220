/** Under which keys an object keeps its session, beside the chunks of its log. */
export const keys = {
  head: 'head',
  /** Effects at work and alarms that are set. */
  running: 'running',
  /** Who waits for a session that nothing was sent to yet. */
  waiters: 'waiters',
  /** What the last turn that rested or waited had come to. */
  result: 'result',
  /** What came of a command. */
  told: (id: string): string => `told:${id}`,
  /** Which command it was: a hash. */
  asked: (id: string): string => `asked:${id}`,
};
