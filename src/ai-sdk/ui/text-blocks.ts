import type { UIMessageChunk } from './ui-types.ts';

export type BlockKind = 'text' | 'reasoning';

/** The blocks of text of one message: at most one is open. */
export interface TextBlocks {
  write(kind: BlockKind, delta: string): UIMessageChunk[];
  close(): UIMessageChunk[];
}

export const createTextBlocks = (): TextBlocks => {
  let open: { kind: BlockKind; id: string } | undefined;
  let count = 0;

  const close = (): UIMessageChunk[] => {
    if (open === undefined) return [];
    const { kind, id } = open;
    open = undefined;
    return [{ type: `${kind}-end`, id }];
  };
  return {
    write: (kind, delta) => {
      if (delta === '') return [];
      const before = open?.kind === kind ? [] : close();
      const isNew = open === undefined;
      open ??= { kind, id: `${kind}-${(count += 1)}` };
      const { id } = open;
      const start: UIMessageChunk[] = isNew ? [{ type: `${kind}-start`, id }] : [];
      return [...before, ...start, { type: `${kind}-delta`, id, delta }];
    },
    close,
  };
};
