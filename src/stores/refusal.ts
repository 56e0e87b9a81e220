import type { OutsideEvent } from '../machines/agent-context.ts';
import type { Refusal, RefusedCommand } from './store.ts';

/** What a store keeps with a command that was refused, as text. */
export const packRefusal = ({ code, message }: Refusal, refusedAt: number): string =>
  JSON.stringify({ refusedAt, code, message });

/** The command with what `packRefusal` packed. */
export const unpackRefusal = ({
  id,
  event,
  at,
  refused,
}: {
  id: number;
  event: string;
  at: number;
  refused: string;
}): RefusedCommand => ({
  id,
  event: JSON.parse(event) as OutsideEvent,
  at,
  ...(JSON.parse(refused) as Pick<RefusedCommand, 'refusedAt' | 'code' | 'message'>),
});
