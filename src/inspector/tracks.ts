import type { Point } from './layers.ts';

/** A row of boxes or of text, in the order from top to bottom; lines go sideways only between two rows. */
export interface Row {
  top: number;
  bottom: number;
}

export interface Routed {
  /** Each line with only vertical and horizontal parts. */
  lines: Map<string, Point[]>;
  /** Where a height is after the rows were moved apart. */
  shift(y: number): number;
}

/** Lines stay straight for this long before and after a row, so that there is room for an arrow's head. */
export const headLength = 9;
const trackHeight = 7;

/** Gives lines that go sideways between the same two rows a height of their own, and moves rows apart to make room. */
export const routed = (lines: ReadonlyMap<string, readonly Point[]>, rows: readonly Row[]): Routed => {
  const gaps = rows.slice(1).map((row, index) => ({ top: rows[index]?.bottom ?? row.top, bottom: row.top }));
  const turns = [...lines].flatMap(([key, points]) => turnsOf(key, points));
  const tracks = new Map<string, { gap: number; track: number }>();
  const counts = gaps.map((gap, index) => {
    const inGap = turns.filter(({ middle }) => middle > gap.top && middle < gap.bottom);
    const placed = tracksOf(inGap);
    for (const { turn, track } of placed) tracks.set(turn.id, { gap: index, track });
    return Math.max(0, ...placed.map(({ track }) => track + 1));
  });
  const extra = gaps.map(({ top, bottom }, index) =>
    Math.max(0, 2 * headLength + (counts[index] ?? 0) * trackHeight - (bottom - top)),
  );
  const shift = (y: number): number =>
    gaps.reduce((sum, { top, bottom }, index) => (y > (top + bottom) / 2 ? sum + (extra[index] ?? 0) : sum), y);

  const heightOf = (id: string): number | undefined => {
    const at = tracks.get(id);
    const gap = at === undefined ? undefined : gaps[at.gap];
    if (at === undefined || gap === undefined) return undefined;
    const room = gap.bottom - gap.top + (extra[at.gap] ?? 0) - 2 * headLength;
    return shift(gap.top) + headLength + ((at.track + 0.5) * room) / (counts[at.gap] ?? 1);
  };
  const route = (key: string, points: readonly Point[]): Point[] =>
    points.flatMap((point, index) => {
      const before = points[index - 1];
      const here = { x: point.x, y: shift(point.y) };
      if (before === undefined || before.x === point.x) return [here];
      const y = heightOf(`${key} ${index}`) ?? (shift(before.y) + here.y) / 2;
      return [{ x: before.x, y }, { x: point.x, y }, here];
    });
  return { lines: new Map([...lines].map(([key, points]) => [key, route(key, points)])), shift };
};

/** A place where a line changes its column. */
interface Turn {
  id: string;
  from: number;
  to: number;
  middle: number;
}

const turnsOf = (key: string, points: readonly Point[]): Turn[] =>
  points.flatMap((point, index) => {
    const before = points[index - 1];
    if (before === undefined || before.x === point.x) return [];
    return [{ id: `${key} ${index}`, from: before.x, to: point.x, middle: (before.y + point.y) / 2 }];
  });

/**
 * The order in which neighbours don't cross: to the right the rightmost goes first, to the left the leftmost; and a line that
 * comes down a column turns off before another one turns into it.
 */
const tracksOf = (turns: readonly Turn[]): { turn: Turn; track: number }[] => {
  const right = turns.filter(({ from, to }) => to > from).toSorted((a, b) => b.from - a.from);
  const left = turns.filter(({ from, to }) => to < from).toSorted((a, b) => a.from - b.from);
  const waiting = [...right, ...left];
  const placed: { turn: Turn; track: number }[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex(
      (turn) => !waiting.some((other) => other !== turn && Math.abs(other.from - turn.to) < 6),
    );
    for (const turn of waiting.splice(Math.max(free, 0), 1)) {
      const above = placed.filter((other) => overlap(other.turn, turn)).map(({ track }) => track);
      placed.push({ turn, track: Math.max(-1, ...above) + 1 });
    }
  }
  return placed;
};

const overlap = (a: Turn, b: Turn): boolean =>
  Math.min(a.from, a.to) - 6 < Math.max(b.from, b.to) && Math.min(b.from, b.to) - 6 < Math.max(a.from, a.to);
