// Colours that stay apart for colour-blind eyes (after Okabe and Ito), in the dark and in the light. None of them is the only
// sign of anything: lanes have names, differences have signs.

import { element } from './elements.ts';
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

export const UNMARKED = '#7a86a8';
export const IDLE = '#9aa0a6';

export function markerColor(marker: string): string {
  return MARKERS[marker] ?? MARKERS.other;
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
}

/** As a pixel of an `ImageData`, read as a number. Channels are from 0 to 255. */
function rgba(red: number, green: number, blue: number, alpha = 255): number {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * A colour by how light it looks, how strong it is, and its hue: text has the same contrast on all hues of one lightness.
 * https://www.w3.org/TR/css-color-4/#ok-lab
 */
function oklch(lightness: number, chroma: number, hue: number): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channel = (linear: number): number => {
    const bounded = Math.min(1, Math.max(0, linear));
    return Math.round(255 * (bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055));
  };
  return rgba(
    channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  );
}

/** Hues of scripts: blue, orange, teal, violet, sand, cyan, pink, green. */
const HUES = [255, 60, 175, 300, 95, 220, 350, 145];

function hash(text: string): number {
  let value = 2166136261;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  return value >>> 0;
}

/** Each script has a hue, those that ran most the first ones; each function in it a shade. What has no script is grey. */
export function frameColors(profile: Profile): Uint32Array {
  const dark = isDark();
  const { self } = profile.sums(profile.extent);
  const busy = new Map<string, number>();
  for (let frame = 0; frame < profile.frameCount; frame++) {
    const resource = profile.resource(frame);
    if (resource !== undefined) busy.set(resource, (busy.get(resource) ?? 0) + self[frame]);
  }
  const order = [...busy].sort((a, b) => b[1] - a[1]).map(([resource]) => resource);
  const hueOf = new Map(order.map((resource, index) => [resource, HUES[index % HUES.length]]));
  const colors = new Uint32Array(profile.frameCount);
  for (let frame = 0; frame < profile.frameCount; frame++) {
    const resource = profile.resource(frame);
    const shade = hash(profile.functionName(frame));
    const lightness = (dark ? 0.34 : 0.81) + (shade % 5) * 0.025;
    const hue = (hueOf.get(resource ?? '') ?? 260) + ((shade >>> 8) % 7) * 6 - 18;
    colors[frame] = oklch(lightness, resource === undefined ? 0.006 : dark ? 0.065 : 0.085, hue);
  }
  return colors;
}

/** Of boxes that are not looked for. */
export const PALE = rgba(128, 128, 128, 48);

/** Of the chosen function. */
export function chosenColor(): number {
  return isDark() ? oklch(0.52, 0.11, 80) : oklch(0.86, 0.165, 90);
}

/** From blue, which shrank, over grey to orange, which grew. `change` is from -1 to 1. */
export function changeColor(change: number): number {
  const strength = Math.min(1, Math.abs(change));
  const lightness = isDark() ? 0.36 + 0.12 * strength : 0.91 - 0.15 * strength;
  return oklch(lightness, 0.13 * strength, change < 0 ? 250 : 60);
}

/** What a canvas needs of the theme. */
export interface Theme {
  background: string;
  text: string;
  quiet: string;
  grid: string;
}

/** Reads the theme of now: a canvas does not know the style sheet's functions. */
export function canvasTheme(): Theme {
  const probe = element('i', { hidden: true });
  document.body.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const theme = { background: read('--panel'), text: read('--text'), quiet: read('--quiet'), grid: read('--grid') };
  probe.remove();
  return theme;
}
