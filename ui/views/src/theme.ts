// The light and the dark theme, for what is drawn on a canvas. theme.css has the same for elements.

import { element } from './dom.ts';

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
}

export function toggleTheme(): void {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
}

export interface CanvasTheme {
  background: string;
  text: string;
  secondaryText: string;
  grid: string;
}

/** The current colors of theme.css as values: a canvas understands neither `var()` nor `light-dark()`. */
export function canvasTheme(): CanvasTheme {
  return {
    background: themeColor('--panel'),
    text: themeColor('--text'),
    secondaryText: themeColor('--secondary-text'),
    grid: themeColor('--grid'),
  };
}

/** The current value of one of the colors of theme.css. */
export function themeColor(name: string): string {
  const probe = element('i', { hidden: true });
  document.body.append(probe);
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
