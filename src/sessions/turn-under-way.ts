import type { Turn } from '../machines/turn.ts';
import type { OwnSession } from './own-session.ts';
import type { Session } from './session.ts';

/** The turn under way, or the last one. Whoever asks for the actor keeps it awake; this does not. */
export const turnUnderWay = (session: Session): Turn =>
  'turn' in session ? (session as OwnSession).turn : session.actor.getSnapshot().context.turn;
