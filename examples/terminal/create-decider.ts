import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { AgentError, type PendingCall, type Session } from 'agentchart';
import { escapeJson, escapeText } from './escape-text.ts';

export interface DecisionFlags {
  yes?: boolean | undefined;
  no?: boolean | undefined;
  reason?: string | undefined;
}

/** Decides on one call that waits. */
export type Decider = (session: Session, call: PendingCall) => Promise<void>;

/** undefined: nobody needs the answer any more. */
const ask = async (question: string, isOver: AbortSignal, prefill = ''): Promise<string | undefined> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // A terminal in raw mode sends no signal by itself.
  const interrupt = (): boolean => process.kill(process.pid, 'SIGINT');
  terminal.on('SIGINT', interrupt);
  try {
    const answer = terminal.question(question, { signal: isOver });
    terminal.write(prefill);
    return await answer;
  } catch {
    if (isOver.aborted) return undefined;
    // Ctrl-D: nobody will answer here. Leave as with Ctrl-C.
    interrupt();
    return await new Promise(() => undefined);
  } finally {
    terminal.close();
  }
};

const wasElsewhere = (): boolean => {
  console.log('\n         Decided on the page.');
  return true;
};

const decideOnce = async (
  session: Session,
  { callId, input, inputHash }: PendingCall,
  isOver: AbortSignal,
): Promise<boolean> => {
  const key = (await ask('         [a]pprove, [e]dit, [r]eject? ', isOver))?.trim().toLowerCase();
  if (key === undefined) return wasElsewhere();
  if (key === 'a') await session.approve(callId, { inputHash });
  else if (key === 'r') {
    const reason = await ask('         Reason: ', isOver);
    if (reason === undefined) return wasElsewhere();
    await session.reject(callId, { inputHash, reason });
  } else if (key === 'e') {
    const edited = await ask('         Arguments: ', isOver, escapeJson(input));
    if (edited === undefined) return wasElsewhere();
    await session.approve(callId, { inputHash, input: JSON.parse(edited) });
  } else {
    console.log(styleText('red', '         Press a, e or r, then Enter; Ctrl-C leaves the session in a file.'));
    return false;
  }
  return true;
};

/** Aborts when the call does not wait any more: somebody decided on it elsewhere, on the inspector's page say. */
const decidedElsewhere = (session: Session, callId: string): { signal: AbortSignal; stop(): void } => {
  const decided = new AbortController();
  const { unsubscribe } = session.actor.subscribe(() => {
    if (!session.pending.some((call) => call.callId === callId)) decided.abort();
  });
  return { signal: decided.signal, stop: unsubscribe };
};

const onKeyboard: Decider = async (session, call) => {
  const { signal, stop } = decidedElsewhere(session, call.callId);
  try {
    while (!(await tryOnce(session, call, signal)));
  } finally {
    stop();
  }
};

const tryOnce = async (session: Session, call: PendingCall, isOver: AbortSignal): Promise<boolean> => {
  try {
    return await decideOnce(session, call, isOver);
  } catch (error) {
    const isMistake = error instanceof SyntaxError || (error instanceof AgentError && error.code === 'invalid-input');
    if (!isMistake) throw error;
    console.log(styleText('red', `         ${escapeText(error.message)}`));
    return false;
  }
};

const hasKeyboard = (): boolean => process.stdin.isTTY && !process.env['CI'];

/** By flag, else by a human at the keyboard; where there is neither it approves, and says so. */
export const createDecider = ({ yes, no, reason }: DecisionFlags): Decider => {
  const announce = ({ tool, input }: PendingCall, how: string): void =>
    console.log(`         ${styleText('yellow', '?')} ${escapeText(tool)} ${escapeJson(input)} needs approval${how}`);

  return async (session, call) => {
    const { callId, inputHash } = call;
    if (no || reason !== undefined) {
      announce(call, ': rejected by flag');
      return session.reject(callId, { inputHash, ...(reason === undefined ? {} : { reason }) });
    }
    if (!yes && hasKeyboard()) {
      announce(call, '.');
      return onKeyboard(session, call);
    }
    announce(
      call,
      yes ? ': approved by flag' : ': approved, for there is no keyboard here to ask (see --no, --reason)',
    );
    return session.approve(callId, { inputHash });
  };
};
