import { useState } from 'react';

/** A line to write in. */
export const Ask = ({ isOff, send }: { isOff: boolean; send(text: string): void }) => {
  const [text, setText] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send(text);
        setText('');
      }}
    >
      <input aria-label="message" value={text} onChange={(event) => setText(event.target.value)} />
      <button disabled={isOff || text === ''}>Send</button>
    </form>
  );
};
