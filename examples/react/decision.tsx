import type { JsonValue } from 'agentchart';
import { useState } from 'react';

export interface DecisionProps {
  tool: string;
  input: unknown;
  /** `input` is what is to run. */
  approve(input: JsonValue): void;
  reject(reason: string): void;
}

const parse = (text: string): { value: JsonValue } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

/** Asks about one call: its arguments can be changed before it runs, and a reason given why it does not. */
export const Decision = ({ tool, input, approve, reject }: DecisionProps) => {
  const [text, setText] = useState(JSON.stringify(input));
  const [reason, setReason] = useState('');
  const parsed = parse(text);
  return (
    <fieldset>
      <legend>{tool}?</legend>
      <textarea aria-label="arguments" value={text} onChange={(event) => setText(event.target.value)} />
      <input aria-label="reason" value={reason} onChange={(event) => setReason(event.target.value)} />
      <button disabled={parsed === undefined} onClick={() => parsed !== undefined && approve(parsed.value)}>
        Approve
      </button>
      <button onClick={() => reject(reason)}>Reject</button>
    </fieldset>
  );
};
