// Where parts of a picture are, and how it has to lie so that they are seen.

import { between } from "#shared/values";

/** How a picture lies on the canvas: moved by x and y, k times as large. */
export interface Transform {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

export interface Bounds {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Where the picture's own coordinates begin, and how far they go: its `viewBox`. */
export type ViewBox = readonly [x: number, y: number, width: number, height: number];

const MARGIN = 12;
const FIT_MARGIN = 24;
const LARGEST_FIT = 1.38;
const SCALES = [0.05, 6] as const;
/** The buttons and the legend below the picture. */
export const BELOW = 44;

/** The bounds of rectangles on the screen, in the coordinates of a picture that lies as `at` says. */
export function boundsOf(outer: DOMRect, at: Transform, rects: readonly DOMRect[]): Bounds {
  const shown = rects.filter((rect) => rect.width || rect.height);
  const x = (value: number) => (value - outer.left - at.x) / at.k;
  const y = (value: number) => (value - outer.top - at.y) / at.k;
  return {
    left: x(Math.min(...shown.map((rect) => rect.left))),
    right: x(Math.max(...shown.map((rect) => rect.right))),
    top: y(Math.min(...shown.map((rect) => rect.top))),
    bottom: y(Math.max(...shown.map((rect) => rect.bottom))),
  };
}

export function isInSight(canvas: Size, at: Transform, { left, right, top, bottom }: Bounds): boolean {
  const isBeside = left * at.k + at.x <= 0 || right * at.k + at.x >= canvas.width;
  return !isBeside && top * at.k + at.y > 0 && bottom * at.k + at.y < canvas.height;
}

/** How a picture lies that is shown whole. */
export function fitted(canvas: Size, box: ViewBox): Transform {
  const height = canvas.height - BELOW;
  const k = Math.min((canvas.width - FIT_MARGIN) / box[2], (height - FIT_MARGIN) / box[3], LARGEST_FIT);
  return { k, x: (canvas.width - box[2] * k) / 2 - box[0] * k, y: (height - box[3] * k) / 2 - box[1] * k };
}

/** How a picture lies with a part of it in the middle of the canvas, as near as its borders let it. */
export function centred(canvas: Size, box: ViewBox, { left, right, top, bottom }: Bounds, k: number): Transform {
  const along = (middle: number, start: number, size: number, room: number) => {
    if (size * k <= room) return (room - size * k) / 2 - start * k;
    return Math.min(MARGIN - start * k, Math.max(room - MARGIN - (start + size) * k, room / 2 - middle * k));
  };
  return {
    k,
    x: along((left + right) / 2, box[0], box[2], canvas.width),
    y: along((top + bottom) / 2, box[1], box[3], canvas.height - BELOW),
  };
}

/** How a picture lies that is enlarged around a point of the canvas. */
export function zoomed(at: Transform, factor: number, x: number, y: number): Transform {
  const k = between(SCALES[0], at.k * factor, SCALES[1]);
  return { k, x: x - ((x - at.x) * k) / at.k, y: y - ((y - at.y) * k) / at.k };
}

/** The element that stands highest on the screen. */
export function topmost(elements: readonly Element[]): Element | undefined {
  const tops = elements.map((element) => ({ top: element.getBoundingClientRect().top, element }));
  return tops.length ? tops.reduce((best, next) => (next.top < best.top ? next : best)).element : undefined;
}
