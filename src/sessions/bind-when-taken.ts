/**
 * Makes the methods of a class such that one can be taken from its object and called alone, as in `onClick={session.stop}`. They are bound when
 * they are taken: to bind them in the constructor would give every object functions of its own. A symbol stays a method: V8's
 * `await using` takes no bound function.
 */
export const bindWhenTaken = (prototype: object): void => {
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
    if (typeof method !== 'function' || name === 'constructor') continue;
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(): unknown {
        return method.bind(this);
      },
      set(value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }
};
