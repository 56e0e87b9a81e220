/** What providers take as a name; a name that a model made up may hold anything. */
export const wireName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
