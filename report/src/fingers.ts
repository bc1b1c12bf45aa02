// Fingers on a screen: they drag, pinch and tap. https://www.w3.org/TR/pointerevents/

export interface Point {
  x: number;
  y: number;
}

export interface Gestures {
  /** One finger moved, or the middle between two. */
  drag(deltaX: number, deltaY: number): void;
  /** Two fingers went apart by a factor, around a point. */
  pinch(factor: number, around: Point): void;
  tap(at: Point): void;
}

/** A finger that moves less than this many pixels taps. */
const TAP_SLACK = 8;

/** Tells of fingers on an element. Its style must say `touch-action`, or the browser takes them for scrolling. */
export function listenToFingers(target: HTMLElement, gestures: Gestures): void {
  const fingers = new Map<number, Point>();
  let tapAt: Point | undefined;
  const placeOf = (event: PointerEvent): Point => {
    const { left, top } = target.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const measure = (): { middle: Point; apart: number } => {
    const [a, b = a] = [...fingers.values()];
    return { middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, apart: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  target.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch') return;
    // No events of a mouse follow.
    event.preventDefault();
    const place = placeOf(event);
    tapAt = fingers.size === 0 ? place : undefined;
    fingers.set(event.pointerId, place);
  });
  target.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    const place = placeOf(event);
    if (tapAt !== undefined && Math.hypot(place.x - tapAt.x, place.y - tapAt.y) < TAP_SLACK) return;
    tapAt = undefined;
    const before = measure();
    fingers.set(event.pointerId, place);
    const after = measure();
    gestures.drag(after.middle.x - before.middle.x, after.middle.y - before.middle.y);
    if (fingers.size === 2 && before.apart > 0) gestures.pinch(after.apart / before.apart, after.middle);
  });
  const lift = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId) || tapAt === undefined) return;
    if (event.type === 'pointerup') gestures.tap(tapAt);
    tapAt = undefined;
  };
  target.addEventListener('pointerup', lift);
  target.addEventListener('pointercancel', lift);
}
