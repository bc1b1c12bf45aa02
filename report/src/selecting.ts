// Selecting a stretch of the timeline with whatever points: a mouse or a finger drags from one end to the other, two fingers
// hold both ends at once.

export interface Selecting {
  /** The stretch that would be selected now, in pixels from the left edge. */
  preview(from: number, to: number): void;
  /** It is selected. */
  done(from: number, to: number): void;
  /** It never was. */
  cancel(): void;
  /** A click or a tap. */
  click(x: number, y: number): void;
}

/** A pointer that moves less than this many pixels clicks. */
const SLACK = { mouse: 4, pen: 6, touch: 10 };

export function listenToSelecting(target: HTMLElement, area: () => DOMRect | undefined, selecting: Selecting): void {
  /** Where each pointer went down, and where it is. */
  const pointers = new Map<number, { from: number; to: number }>();
  let isDragging = false;
  const ends = (): [number, number] => {
    const [first, second] = [...pointers.values()];
    const [a, b] = second === undefined ? [first.from, first.to] : [first.to, second.to];
    return a < b ? [a, b] : [b, a];
  };
  const placeOf = (event: PointerEvent): { x: number; y: number } | undefined => {
    const rect = area();
    return rect === undefined ? undefined : { x: event.clientX - rect.left, y: event.clientY - rect.top };
  };
  target.addEventListener('pointerdown', (event) => {
    const place = placeOf(event);
    if (place === undefined || event.button !== 0 || pointers.size === 2) return;
    pointers.set(event.pointerId, { from: place.x, to: place.x });
    target.setPointerCapture(event.pointerId);
    if (pointers.size === 2) isDragging = true;
  });
  target.addEventListener('pointermove', (event) => {
    const pointer = pointers.get(event.pointerId);
    const place = placeOf(event);
    if (pointer === undefined || place === undefined) return;
    pointer.to = place.x;
    isDragging ||= Math.abs(pointer.to - pointer.from) >= (SLACK[event.pointerType as keyof typeof SLACK] ?? SLACK.mouse);
    if (isDragging) selecting.preview(...ends());
  });
  target.addEventListener('pointerup', (event) => {
    if (!pointers.has(event.pointerId)) return;
    const [from, to] = ends();
    const place = placeOf(event);
    // The other finger alone would start anew.
    pointers.clear();
    if (isDragging) selecting.done(from, to);
    else if (place !== undefined) selecting.click(place.x, place.y);
    isDragging = false;
  });
  target.addEventListener('pointercancel', (event) => {
    if (!pointers.has(event.pointerId)) return;
    pointers.clear();
    isDragging = false;
    selecting.cancel();
  });
}
