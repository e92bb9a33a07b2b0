/** Light or dark: as the system has it, unless somebody chose. */
import { setting } from './setting.ts';

export const theme = setting('theme', ['system', 'light', 'dark'], 'system');

/** Says it to the style sheet; called before anything is painted. */
export function applyTheme(): void {
  const chosen = theme.get();
  document.documentElement.style.colorScheme = chosen === 'system' ? '' : chosen;
}
