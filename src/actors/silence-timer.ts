import type { Clock } from './alarm.ts';

/** Rings when nothing has been heard for a while. One timer of the platform, however much is heard: when it rings, it waits for what is left. */
export class SilenceTimer {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #ring: () => void;
  #last: number | undefined;
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
    this.#last = this.#clock.now();
  }

  end(): void {
    this.#clock.clearTimeout(this.#handle);
  }

  #wait(left: number): void {
    this.#last = undefined;
    this.#handle = this.#clock.setTimeout(() => this.#look(), left);
  }

  #look(): void {
    const left = this.#last === undefined ? 0 : this.#last + this.#ms - this.#clock.now();
    // A clock that was set back is not waited for.
    if (left > 0) this.#wait(Math.min(left, this.#ms));
    else this.#ring();
  }
}
