/** No event is longer; a longer line would not fit into one string. */
const maxLine = 256_000_000;
const tooLong = '(too long)';

/** The lines of a text that comes in pieces. One that is too long is left out, and something stands in its place. */
export const linesOf = async function* (
  pieces: AsyncIterable<string> | Iterable<string>,
  max = maxLine,
): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  const take = (): string => {
    const line = length > max ? tooLong : parts.join('');
    [parts, length] = [[], 0];
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  for await (const piece of pieces) {
    const [first = '', ...lines] = piece.split('\n');
    const keep = (part: string): void => {
      length += part.length;
      if (length <= max) parts.push(part);
    };
    keep(first);
    for (const line of lines) {
      yield take();
      keep(line);
    }
  }
  yield take();
};
