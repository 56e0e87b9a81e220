/** @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];
const key = 'agentchart-theme';

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';

export const ThemeButton = () => {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(key, theme);
  }, [theme]);
  return (
    <button
      type="button"
      class="link theme"
      title="Colours: as the system, light, dark"
      onClick={() => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system')}
    >
      Theme: {theme}
    </button>
  );
};
