type Notify = () => void;

/** Who wants to know of commands, by session. One that throws does not keep the others from knowing. */
export class Watchers {
  readonly #bySession = new Map<string, Set<{ notify: Notify }>>();

  get size(): number {
    return this.#bySession.size;
  }

  sessions(): string[] {
    return [...this.#bySession.keys()];
  }

  /** What it gives ends it; a second call does nothing. */
  add(sessionId: string, notify: Notify): () => void {
    const watchers = this.#bySession.get(sessionId) ?? new Set();
    this.#bySession.set(sessionId, watchers);
    // An object of its own: the same function may watch twice.
    const watcher = { notify };
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#bySession.get(sessionId) === watchers) this.#bySession.delete(sessionId);
    };
  }

  /** Calls them after the code that runs now. */
  tell(sessionId: string): void {
    for (const watcher of this.#bySession.get(sessionId) ?? []) {
      queueMicrotask(() => {
        if (this.#bySession.get(sessionId)?.has(watcher) === true) watcher.notify();
      });
    }
  }

  clear(): void {
    this.#bySession.clear();
  }
}
