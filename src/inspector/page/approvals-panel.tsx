/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JsonValue } from '../../messages/json.ts';
import { type Approval, approvalsOf } from '../approvals.ts';
import { visible } from '../escape-control.ts';
import { checkText } from './check-text.ts';
import type { Answer } from './connect.ts';
import { JsonText } from './json-text.tsx';
import { useNow, useStore } from './use-store.ts';
import { duration } from './words.ts';

type Mode = 'look' | 'edit' | 'reject' | 'respond';

/** Whatever somebody types is an answer: JSON as what it says, all else as text. */
const answerOf = (text: string): JsonValue => {
  const checked = checkText(text, undefined);
  return checked.isRight ? checked.value : text;
};

const Problems = ({ of }: { of: readonly string[] }) => (
  <div class="problems" role="alert">
    <ul>
      {of.map((problem) => (
        <li key={problem}>{visible(problem)}</li>
      ))}
    </ul>
  </div>
);

const Card = ({ approval, isFirst }: { approval: Approval; isFirst: boolean }) => {
  const store = useStore();
  const { session, callId, inputHash, tool, input, needs, reason, refusedEdit, expiresAt, canEdit, inputSchema } =
    approval;
  const [mode, setMode] = useState<Mode>('look');
  const [draft, setDraft] = useState('');
  const [answer, setAnswer] = useState<Answer>({});
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const now = useNow(expiresAt !== undefined, 1_000);
  const { canDecide } = store;
  const checked = mode === 'edit' ? checkText(draft, inputSchema) : undefined;
  useEffect(() => field.current?.focus(), [mode]);
  const begin = (next: Mode): void => {
    store.stay();
    setAnswer({});
    // In JSON what would turn the reading order may stand as its code.
    setDraft(next === 'edit' ? visible(JSON.stringify(input, undefined, 2)) : '');
    setMode(next);
  };
  const give = async (work: Promise<Answer>): Promise<void> => {
    setSending(true);
    const given = await work;
    setAnswer(given);
    // What was left for somebody else is not given twice.
    setSending(given.note !== undefined);
    if (given.note !== undefined) setMode('look');
  };
  const decision = { session, callId, inputHash };
  const approve = (): void => {
    if (checked !== undefined && !checked.isRight) return;
    void give(
      store.command({ type: 'approve', ...decision, ...(checked === undefined ? {} : { input: checked.value }) }),
    );
  };
  const submit = (): void => {
    if (mode === 'edit') return approve();
    const said = draft.trim();
    if (mode === 'respond') void give(store.command({ type: 'respond', ...decision, output: answerOf(draft) }));
    else void give(store.command({ type: 'reject', ...decision, ...(said === '' ? {} : { reason: said }) }));
  };
  const labels = {
    edit: ['Arguments, as JSON', 'Approve edited'],
    reject: ['Reason (the model reads it)', 'Reject'],
    respond: ['Result in the tool’s place, JSON or text', 'Give result'],
  } as const;
  const name = visible(tool);
  return (
    <article class="approval" aria-label={`${name} waits for ${needs === 'approval' ? 'approval' : 'a result'}`}>
      <header>
        <h3>{name}</h3>
        <span class="id">{callId}</span>
        {expiresAt === undefined ? null : (
          <span class="badge">{expiresAt > now ? `expires in ${duration(expiresAt - now)}` : 'expired'}</span>
        )}
      </header>
      {approval.description === undefined ? null : <p class="about">{visible(approval.description)}</p>}
      {reason === undefined ? null : <p class="about">{visible(reason)}</p>}
      {mode === 'edit' ? null : <JsonText value={input} />}
      {refusedEdit === undefined ? null : <Problems of={[refusedEdit]} />}
      {mode === 'look' ? (
        <div class="buttons">
          {needs === 'approval' ? (
            <>
              <button
                type="button"
                class="primary"
                data-approve={isFirst ? '' : undefined}
                disabled={!canDecide || isSending}
                onClick={approve}
              >
                Approve
              </button>
              <button
                type="button"
                disabled={!canDecide || isSending || !canEdit}
                title={
                  canEdit
                    ? undefined
                    : 'Something in the arguments is hidden or cut: they can be approved or rejected as they are.'
                }
                onClick={() => begin('edit')}
              >
                Edit…
              </button>
              <button
                type="button"
                class="danger"
                data-reject={isFirst ? '' : undefined}
                disabled={!canDecide || isSending}
                onClick={() => begin('reject')}
              >
                Reject…
              </button>
            </>
          ) : null}
          <button
            type="button"
            class={needs === 'result' ? 'primary' : ''}
            disabled={!canDecide || isSending}
            onClick={() => begin('respond')}
          >
            Respond…
          </button>
        </div>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') begin('look');
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
          }}
        >
          <label>
            {labels[mode][0]}
            <textarea
              ref={field}
              rows={mode === 'edit' ? Math.min(16, draft.split('\n').length + 1) : 2}
              spellcheck={mode === 'reject'}
              value={draft}
              aria-invalid={checked?.isRight === false}
              onInput={(event) => setDraft(event.currentTarget.value)}
            />
          </label>
          {checked?.isRight === false ? <Problems of={checked.problems} /> : null}
          {mode === 'edit' && inputSchema === undefined ? (
            <p class="hint">The tool’s schema is not known here; the agent checks the arguments before they run.</p>
          ) : null}
          <div class="buttons">
            <button
              type="submit"
              class={mode === 'reject' ? 'danger' : 'primary'}
              disabled={!canDecide || isSending || checked?.isRight === false}
            >
              {labels[mode][1]}
            </button>
            <button type="button" onClick={() => begin('look')}>
              Cancel
            </button>
          </div>
        </form>
      )}
      {answer.refusal === undefined ? null : <Problems of={[answer.refusal]} />}
      {answer.note === undefined ? null : (
        <p class="hint" role="status">
          {answer.note}
        </p>
      )}
    </article>
  );
};

/** What waits for a decision, on top of everything else. */
export const ApprovalsPanel = () => {
  const store = useStore();
  const { session, view } = store;
  const approvals = session === undefined ? [] : approvalsOf(view, session);
  if (approvals.length === 0) return null;
  return (
    <section class="approvals" aria-label="Waiting for a decision">
      <h2>
        To decide <span class="count">{approvals.length}</span>
        {store.isLive ? null : <span class="hint">as it was then</span>}
      </h2>
      {approvals.map((approval, index) => (
        <Card key={`${approval.callId} ${approval.inputHash}`} approval={approval} isFirst={index === 0} />
      ))}
    </section>
  );
};
