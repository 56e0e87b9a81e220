import type { Clock } from './alarm.ts';
import { nextTask } from './breath.ts';

/** So often the same time is heard before the rest of a burst is taken for heard together. */
const often = 8;

/** Rings when nothing has been heard for a while. One timer of the platform, however much is heard: when it rings, it waits for what is left. */
export class SilenceTimer {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #ring: () => void;
  /** 0: nothing has been heard. A number at all times: an engine makes a new object of each time that is kept where something else may stand. */
  #last = 0;
  #times = 0;
  #isBurst = false;
  #handle: unknown;

  constructor(clock: Clock, ms: number, ring: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#ring = ring;
  }

  /** It listens, from now on. */
  begin(): void {
    this.end();
    this.#wait(this.#ms);
  }

  heard(): void {
    if (this.#isBurst) return;
    const now = this.#clock.now();
    this.#times = now === this.#last ? this.#times + 1 : 0;
    this.#last = now;
    if (this.#times === often) this.#hearBurst();
  }

  end(): void {
    this.#clock.clearTimeout(this.#handle);
  }

  // To ask for the time takes as long as all else that is done for a chunk. What comes before the platform does anything else needs no times of
  // its own: it was heard by when it is over.
  #hearBurst(): void {
    this.#isBurst = true;
    void nextTask().then(() => {
      this.#isBurst = false;
      this.#times = 0;
      this.#last = this.#clock.now();
    });
  }

  #wait(left: number): void {
    this.#last = 0;
    this.#handle = this.#clock.setTimeout(() => this.#look(), left);
  }

  #look(): void {
    const now = this.#clock.now();
    const left = (this.#isBurst ? now : this.#last) + this.#ms - now;
    // A clock that was set back is not waited for.
    if (left > 0) this.#wait(Math.min(left, this.#ms));
    else this.#ring();
  }
}
