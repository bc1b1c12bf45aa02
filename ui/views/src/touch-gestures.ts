// Touch gestures: drag, pinch and tap. https://www.w3.org/TR/pointerevents/

export interface Point {
  x: number;
  y: number;
}

export interface GestureListener {
  /** One finger moved, or the midpoint of two. */
  drag(deltaX: number, deltaY: number): void;
  /** The distance between two fingers grew by a factor. */
  pinch(factor: number, around: Point): void;
  tap(at: Point): void;
}

/** A finger that moves fewer pixels than this makes a tap. */
const TAP_SLACK = 8;

/** Reports gestures on an element. Its style must set `touch-action: none`, or the browser uses them for scrolling. */
export function listenToTouch(target: HTMLElement, listener: GestureListener): void {
  const fingers = new Map<number, Point>();
  let tapAt: Point | undefined;
  const positionOf = (event: PointerEvent): Point => {
    const { left, top } = target.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const measure = (): { middle: Point; distance: number } => {
    const [a, b = a] = [...fingers.values()];
    return { middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, distance: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  target.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch') return;
    // Suppresses the compatibility mouse events.
    event.preventDefault();
    const position = positionOf(event);
    tapAt = fingers.size === 0 ? position : undefined;
    fingers.set(event.pointerId, position);
  });
  target.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    const position = positionOf(event);
    if (tapAt !== undefined && Math.hypot(position.x - tapAt.x, position.y - tapAt.y) < TAP_SLACK) return;
    tapAt = undefined;
    const before = measure();
    fingers.set(event.pointerId, position);
    const after = measure();
    listener.drag(after.middle.x - before.middle.x, after.middle.y - before.middle.y);
    if (fingers.size === 2 && before.distance > 0) listener.pinch(after.distance / before.distance, after.middle);
  });
  const lift = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId) || tapAt === undefined) return;
    if (event.type === 'pointerup') listener.tap(tapAt);
    tapAt = undefined;
  };
  target.addEventListener('pointerup', lift);
  target.addEventListener('pointercancel', lift);
}
