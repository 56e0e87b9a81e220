/** ms without a sign of life after which a worker counts as lost. */
const longestSilence = 30_000;

/** The lines of JSON that an address tells, until it ends or is lost. Rejects where it cannot be reached. */
export const readLines = async function* (
  url: string,
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<unknown> {
  const lost = new AbortController();
  let timer = setTimeout(() => lost.abort(), longestSilence);
  try {
    const { ok, body } = await fetch(url, { signal: AbortSignal.any([signal, lost.signal]) });
    if (!ok || body === null) return;
    onOpen();
    let rest = '';
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => lost.abort(), longestSilence);
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield JSON.parse(line);
    }
  } finally {
    clearTimeout(timer);
    lost.abort();
  }
};
