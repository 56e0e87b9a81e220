import type { PageStore } from './page-store.ts';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== 'range');

const focus = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus();

/** Keys for the whole page. No key alone decides anything: `a` goes to the button, Enter presses it. */
export const handleKeys = (store: PageStore): (() => void) => {
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape') (event.target as HTMLElement).blur();
      return;
    }
    switch (event.key) {
      case 'ArrowLeft':
        store.step(-1);
        break;
      case 'ArrowRight':
        store.step(1);
        break;
      case 'l':
        store.goTo(undefined);
        break;
      case 'a':
        focus('[data-approve]');
        break;
      case 'r':
        document.querySelector<HTMLElement>('[data-reject]')?.click();
        break;
      case '/':
        focus('#filter');
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
};
