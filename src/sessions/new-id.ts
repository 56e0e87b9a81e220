import { nanoid } from 'nanoid';

/** A new id: 21 URL-safe characters. */
export const newId = (): string => nanoid();
