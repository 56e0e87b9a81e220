/** @jsxImportSource preact */
import { useStore } from './use-store.ts';

const example = `const inspector = await startInspector({ agents: [agent] });
console.log(inspector.url);

await agent.run('…', { inspect: inspector.inspect });`;

/** Before anything ran, and where nobody may look. */
export const EmptyPage = () => {
  const { connection, isLoaded } = useStore();
  if (connection === 'refused') {
    return (
      <main class="empty-page">
        <h2>This page has no key</h2>
        <p>
          Open the address that the inspector printed when it started. It holds the key, and a new start has a new one.
        </p>
      </main>
    );
  }
  if (connection !== 'live' || !isLoaded) {
    return (
      <main class="empty-page" aria-busy="true">
        <h2>{connection === 'lost' ? 'The process does not answer' : 'Connecting…'}</h2>
      </main>
    );
  }
  return (
    <main class="empty-page">
      <h2>Nothing ran yet</h2>
      <p>Hand the inspector to a run, or to an opened session, and it appears here.</p>
      <pre>{example}</pre>
    </main>
  );
};
