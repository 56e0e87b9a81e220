import { isPlainObject } from '../messages/json.ts';
import { digest } from '../machines/digest.ts';
import { inputHash } from '../tools/input-hash.ts';

type Fields = Record<string, unknown>;

const verdicts: Readonly<Record<string, unknown>> = { approved: 'approve', rejected: 'reject' };

/** Up to version 2 what holds for later calls was a list of its own, with the arguments as their canonical JSON. */
export const rememberedInDecisions = ({ remembered: list, ...context }: Fields): Fields => {
  const { decisions } = context;
  if (!Array.isArray(decisions) || !Array.isArray(list)) return context;
  const kept = decisions.map((decision: unknown) => {
    const { remembered: _, ...rest } = isPlainObject(decision) ? decision : {};
    return rest;
  });
  const isOf = (decision: unknown, { tool, verdict }: Fields, input: string | undefined): boolean => {
    if (!isPlainObject(decision) || decision['tool'] !== tool || verdicts[String(decision['decision'])] !== verdict)
      return false;
    const { remembered } = decision;
    if (!isPlainObject(remembered)) return false;
    const known = remembered['input'];
    return input === undefined ? known === undefined : known === input || known === digest(input);
  };
  for (const entry of list as unknown[]) {
    if (!isPlainObject(entry)) continue;
    const input = typeof entry['input'] === 'string' ? entry['input'] : undefined;
    const at = decisions.findLastIndex((decision) => isOf(decision, entry, input));
    const decision = kept[at];
    // What no decision stands behind is asked again.
    if (decision === undefined) continue;
    if (input === undefined) {
      kept[at] = { ...decision, remembered: 'tool' };
      continue;
    }
    const hash = inputHash(JSON.parse(input));
    kept[at] = { ...decision, remembered: 'input', [decision['edited'] === true ? 'editHash' : 'inputHash']: hash };
  }
  return { ...context, decisions: kept };
};
