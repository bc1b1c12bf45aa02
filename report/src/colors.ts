// Colours that stay apart for colour-blind eyes (after Okabe and Ito), in the dark and in the light. None of them is the only
// sign of anything: lanes have names, differences have signs.

import type { Profile } from './profile.ts';

/** By marker. */
const MARKERS: Record<string, string> = {
  script: '#0072b2',
  gc: '#d55e00',
  parse: '#8f6bb3',
  paint: '#e69f00',
  style: '#009e73',
  layout: '#56b4e9',
  other: '#cc79a7',
};

export const UNMARKED = '#0072b2';
export const IDLE = '#9aa0a6';

export function markerColor(marker: string): string {
  return MARKERS[marker] ?? MARKERS.other;
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
}

const HUES = [212, 36, 164, 268, 190, 52, 330, 240];

function hash(text: string): number {
  let value = 2166136261;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  return value >>> 0;
}

/** Each script has a hue, each function in it a shade of it or of its neighbours; what has no script is grey. */
export function frameColors(profile: Profile): string[] {
  const dark = isDark();
  const colors: string[] = [];
  for (let frame = 0; frame < profile.frameCount; frame++) {
    const resource = profile.resource(frame);
    const shade = hash(profile.functionName(frame));
    const lightness = dark ? 30 + (shade % 5) * 3 : 72 + (shade % 5) * 3;
    if (resource === undefined) {
      colors.push(`hsl(220 6% ${lightness}%)`);
    } else {
      const hue = HUES[hash(resource) % HUES.length] + ((shade >>> 8) % 7) * 9 - 27;
      colors.push(`hsl(${hue} ${dark ? 42 : 62}% ${lightness}%)`);
    }
  }
  return colors;
}

/** From blue, which shrank, over grey to orange, which grew. `change` is from -1 to 1. */
export function changeColor(change: number): string {
  const dark = isDark();
  const strength = Math.min(1, Math.abs(change));
  const base = dark ? 34 : 82;
  const lightness = base + (dark ? 12 : -22) * strength;
  return `hsl(${change < 0 ? 212 : 28} ${Math.round(strength * 85)}% ${lightness}%)`;
}

/** What a canvas needs of the theme. */
export function canvasTheme(): { background: string; text: string; grid: string; line: string } {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return { background: read('--panel'), text: read('--text'), grid: read('--grid'), line: read('--line') };
}
