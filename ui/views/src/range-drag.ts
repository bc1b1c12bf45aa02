// Selecting a time range with a pointer. A mouse or one finger drags from one end to the other; two fingers hold both
// ends.

export interface RangeDragListener {
  /** The range so far, in pixels from the left edge. */
  preview(from: number, to: number): void;
  /** The range when the pointer was released. */
  select(from: number, to: number): void;
  cancel(): void;
  /** A click or a tap, from the upper left corner. */
  click(x: number, y: number): void;
}

/** By pointer type: a pointer that moves fewer pixels than this makes a click. */
const CLICK_SLACK: Record<string, number> = { mouse: 4, pen: 6, touch: 10 };

/** `area` is the box that pixels are relative to; undefined while there is none. */
export function listenToRangeDrag(
  target: HTMLElement,
  area: () => DOMRect | undefined,
  listener: RangeDragListener,
): void {
  /** For each pointer, the x coordinate where it went down and where it is. */
  const pointers = new Map<number, { from: number; to: number }>();
  let isDragging = false;
  const ends = (): [number, number] => {
    const [first, second] = [...pointers.values()];
    const [a, b] = second === undefined ? [first.from, first.to] : [first.to, second.to];
    return a < b ? [a, b] : [b, a];
  };
  const positionOf = (event: PointerEvent): { x: number; y: number } | undefined => {
    const rect = area();
    return rect === undefined ? undefined : { x: event.clientX - rect.left, y: event.clientY - rect.top };
  };
  target.addEventListener('pointerdown', (event) => {
    const position = positionOf(event);
    if (position === undefined || event.button !== 0 || pointers.size === 2) return;
    pointers.set(event.pointerId, { from: position.x, to: position.x });
    target.setPointerCapture(event.pointerId);
    if (pointers.size === 2) isDragging = true;
  });
  target.addEventListener('pointermove', (event) => {
    const pointer = pointers.get(event.pointerId);
    const position = positionOf(event);
    if (pointer === undefined || position === undefined) return;
    pointer.to = position.x;
    isDragging ||= Math.abs(pointer.to - pointer.from) >= (CLICK_SLACK[event.pointerType] ?? CLICK_SLACK.mouse);
    if (isDragging) listener.preview(...ends());
  });
  target.addEventListener('pointerup', (event) => {
    if (!pointers.has(event.pointerId)) return;
    const [from, to] = ends();
    const position = positionOf(event);
    // The first of two fingers to be lifted ends the gesture: the other one alone would start a new selection.
    pointers.clear();
    if (isDragging) listener.select(from, to);
    else if (position !== undefined) listener.click(position.x, position.y);
    isDragging = false;
  });
  target.addEventListener('pointercancel', (event) => {
    if (!pointers.has(event.pointerId)) return;
    pointers.clear();
    isDragging = false;
    listener.cancel();
  });
}
