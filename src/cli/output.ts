/** What a command has to say: for machines (`--json`) and for people. */
export interface Output {
  json: unknown;
  text: string;
  /** Default 0. */
  exitCode?: number;
}

/** Rows under their heads, in columns. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [heads, ...rows].map(line).join('\n');
};

/** `2026-11-30 10:47:36`, in UTC. */
export const timeText = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
