import type { ProtocolEvent } from './protocol.ts';
import { type Sessions, type ViewState, reduceInto, withOwnKeys } from './view-state.ts';

/** A view that grows event by event. */
export interface ViewFold {
  /** The number of its newest event. */
  readonly seq: number;
  /** What it came to; it stays as it is. */
  readonly view: ViewState;
  /** The view after one more event, to look at before the next one. */
  add(event: ProtocolEvent): ViewState;
}

/**
 * `reduceView` for many events: there may be thousands of sessions, so their list is copied once for all events between two looks at
 * the view, and not for each of them.
 */
export const createFold = (from: ViewState): ViewFold => {
  let view = from;
  /** The list of sessions that nobody has seen yet. */
  let own: Sessions | undefined;
  const sessions = (): Sessions => {
    own ??= withOwnKeys(view.sessions);
    return own;
  };
  return {
    get seq() {
      return view.seq;
    },
    get view() {
      own = undefined;
      return view;
    },
    add: (event) => {
      view = reduceInto(view, event, sessions);
      return view;
    },
  };
};

export const foldAll = (from: ViewState, events: readonly ProtocolEvent[]): ViewState => {
  const fold = createFold(from);
  for (const event of events) fold.add(event);
  return fold.view;
};
