// Colors of functions, markers and changes. They remain distinguishable with color blindness (after Okabe and Ito), in
// the light and the dark theme, and never carry information alone: lanes have names, and differences have signs.

import type { Profile } from './profile.ts';
import { isDark } from './theme.ts';

/** By marker of the JS Self-Profiling API. */
const MARKER_COLORS: Record<string, string> = {
  script: '#0072b2',
  gc: '#d55e00',
  parse: '#8f6bb3',
  paint: '#e69f00',
  style: '#009e73',
  layout: '#56b4e9',
  other: '#cc79a7',
};

export const UNMARKED_COLOR = '#7a86a8';
/** For the lanes of threads. */
export const LANE_COLOR = '#0072b2';
export const WAITING_COLOR = '#c9a227';
export const IDLE_COLOR = '#9aa0a6';
export const MARK_COLOR = '#d55e00';
export const MEASURE_COLOR = '#e69f00';

export function markerColor(marker: string): string {
  return MARKER_COLORS[marker] ?? MARKER_COLORS.other;
}

/** A color as a little-endian pixel of an `ImageData`. Channels are from 0 to 255. */
function rgba(red: number, green: number, blue: number, alpha = 255): number {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * A color in OKLCH, whose lightness is perceptual: text has the same contrast on all hues of one lightness.
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

/** FNV-1a. */
function hash(text: string): number {
  let value = 2166136261;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  return value >>> 0;
}

/**
 * By frame: a hue for each script, in the order of self time, and a shade for each function. Native functions are gray.
 */
export function frameColors(profile: Profile): Uint32Array {
  const dark = isDark();
  const { self } = profile.totals(profile.extent);
  const selfByScript = new Map<string, number>();
  for (let frame = 0; frame < profile.frameCount; frame++) {
    const resource = profile.frames.resource(frame);
    if (resource !== undefined) selfByScript.set(resource, (selfByScript.get(resource) ?? 0) + self[frame]);
  }
  const order = [...selfByScript].sort((a, b) => b[1] - a[1]).map(([resource]) => resource);
  const hueOf = new Map(order.map((resource, index) => [resource, HUES[index % HUES.length]]));
  const colors = new Uint32Array(profile.frameCount);
  for (let frame = 0; frame < profile.frameCount; frame++) {
    const resource = profile.frames.resource(frame);
    const shade = hash(profile.functionName(frame));
    const lightness = (dark ? 0.34 : 0.81) + (shade % 5) * 0.025;
    const hue = (hueOf.get(resource ?? '') ?? 260) + ((shade >>> 8) % 7) * 6 - 18;
    colors[frame] = oklch(lightness, resource === undefined ? 0.006 : dark ? 0.065 : 0.085, hue);
  }
  return colors;
}

/** For functions that do not match the search. */
export const DIMMED_COLOR = rgba(128, 128, 128, 48);

/** For the selected function. */
export function selectedColor(): number {
  return isDark() ? oklch(0.52, 0.11, 80) : oklch(0.86, 0.165, 90);
}

/** A diverging scale from -1 to 1: blue for less time, gray for no change, orange for more. */
export function changeColor(change: number): number {
  const strength = Math.min(1, Math.abs(change));
  const lightness = isDark() ? 0.36 + 0.12 * strength : 0.91 - 0.15 * strength;
  return oklch(lightness, 0.13 * strength, change < 0 ? 250 : 60);
}
