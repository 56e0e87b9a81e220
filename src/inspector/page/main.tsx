/** @jsxImportSource preact */
import { render } from 'preact';
import { App } from './app.tsx';
import { PageStore } from './page-store.ts';
import { StoreContext } from './use-store.ts';

const root = document.querySelector('#page');
if (root !== null) {
  const store = new PageStore();
  store.start();
  render(
    <StoreContext.Provider value={store}>
      <App />
    </StoreContext.Provider>,
    root,
  );
}
