// The flame graph of one of two sides, in the colors of what differs.

import { changeColor, DIMMED_COLOR, selectedColor } from '@selfprof/views/colors.ts';
import { element } from '@selfprof/views/dom.ts';
import { FlameGraph } from '@selfprof/views/flame-graph.ts';
import { leftHeavy } from '@selfprof/views/flame-layout.ts';
import { formatDuration } from '@selfprof/views/format.ts';
import { searchMatcher } from '@selfprof/views/search.ts';

import { keyOf } from './change-table.ts';
import { matchesOf, type Selection } from './profiles.ts';

/** What a figure says of functions, by their keys. */
export interface Differences {
  /** From -1, less time, to 1, more time. */
  strengthOf(key: string): number;
  /** A line of the tooltip. */
  describe(key: string): string | undefined;
}

const NONE: Differences = { strengthOf: () => 0, describe: () => undefined };

export class SideFigure {
  readonly root: HTMLElement;
  readonly graph: FlameGraph;
  readonly #caption = element('figcaption');
  #selection: Selection | undefined;
  #keys: string[] = [];
  #matches: Uint8Array = new Uint8Array(0);
  #differences = NONE;
  #selected = '';

  /** `unit` is what times are means of. */
  constructor(label: string, unit: string, onSelect: (key: string) => void) {
    this.graph = new FlameGraph({
      label,
      style: {
        colors: () => this.#colors(),
        nameOf: (frame) => this.#selection?.profile.functionName(frame) ?? '',
      },
      describe: ({ frame, start, end }) => {
        const { profile } = this.#selection ?? {};
        const difference = this.#differences.describe(this.#keys[frame]);
        return [
          profile?.functionName(frame) ?? '',
          profile?.location(frame) ?? '',
          `${formatDuration(end - start)} per ${unit}`,
          ...(difference === undefined ? [] : [difference]),
        ];
      },
      zoomsOnClick: true,
      onSelect: (frame) => onSelect(frame === -1 ? '' : this.#keys[frame]),
    });
    this.root = element('figure', {}, this.#caption, this.graph.root);
  }

  show(caption: string, selection: Selection, differences: Differences): void {
    this.#caption.textContent = caption;
    this.#selection = selection;
    const { profile } = selection;
    this.#keys = Array.from({ length: profile.frameCount }, (_, frame) => {
      const { data } = profile.frames;
      return keyOf({ name: data.names[data.frames.name[frame]], resource: profile.frames.resource(frame) ?? null });
    });
    this.#differences = differences;
    this.graph.show(leftHeavy(profile, selection.totals));
    this.graph.zoomTo(this.graph.layout.extent);
  }

  update(search: string, selected: string): void {
    if (this.#selection === undefined) return;
    this.#matches = matchesOf(this.#selection.profile, searchMatcher(search));
    this.#selected = selected;
    this.graph.selectFrame(selected === '' ? -1 : this.#keys.indexOf(selected));
  }

  #colors(): Uint32Array {
    return Uint32Array.from(this.#keys, (key, frame) => {
      if (key === this.#selected && this.#selected !== '') return selectedColor();
      return this.#matches[frame] === 0 ? DIMMED_COLOR : changeColor(this.#differences.strengthOf(key));
    });
  }
}
