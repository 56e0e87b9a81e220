/**
 * Tells somebody who only listens. Neither what he throws nor what his promise rejects with comes back: it goes to `onFailure`, and else
 * nowhere. A rejection that nobody takes would end the process.
 */
export const quietly = (tell: () => unknown, onFailure: (error: unknown) => void = () => undefined): void => {
  try {
    const told = tell();
    if (told instanceof Promise) told.catch((error: unknown) => quietly(() => onFailure(error)));
  } catch (error) {
    quietly(() => onFailure(error));
  }
};
