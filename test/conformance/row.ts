/** One rule of the loop, or one case of a reference system's own tests, in our words. */
export interface Row {
  id: string;
  /** What the reference does. */
  reference: string;
  /** What agentchart does; absent where it does nothing of the kind yet. */
  agentchart?: string;
  /** Why they differ. */
  why?: string;
  /** Why no test proves it; not shown once a test carries the id. */
  leftOut?: string;
}
