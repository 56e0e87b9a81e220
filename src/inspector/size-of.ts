const maxValues = 2_000;

/** About how many bytes a value keeps alive. Stops counting after 2,000 values: it is called for every event. */
export const sizeOf = (value: unknown): number => {
  let left = maxValues;
  let size = 0;
  const walk = (item: unknown): void => {
    if (left <= 0) return;
    left -= 1;
    size += 16;
    if (typeof item === 'string') size += item.length * 2;
    if (typeof item !== 'object' || item === null) return;
    try {
      for (const inner of Array.isArray(item) ? item : Object.values(item)) walk(inner);
    } catch {
      // What cannot be read is told as unreadable, and is small.
    }
  };
  walk(value);
  return size;
};
