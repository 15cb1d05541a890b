// Where parts of a picture are, and how it has to lie so that they are seen.

const MARGIN = 12;
// The buttons and the legend below the picture.
const BELOW = 44;

// Where elements are, in the coordinates of the picture that lies as `at` says.
function boundsOf(canvas, at, elements) {
  const outer = canvas.getBoundingClientRect();
  const boxes = elements.map((element) => element.getBoundingClientRect()).filter((found) => found.width || found.height);
  const edge = (name, pick, start, shift) => (pick(...boxes.map((found) => found[name])) - start - shift) / at.k;
  return { left: edge("left", Math.min, outer.left, at.x), right: edge("right", Math.max, outer.left, at.x), top: edge("top", Math.min, outer.top, at.y), bottom: edge("bottom", Math.max, outer.top, at.y) };
}

function isInSight(canvas, at, { left, right, top, bottom }) {
  return left * at.k + at.x > 0 && right * at.k + at.x < canvas.clientWidth && top * at.k + at.y > 0 && bottom * at.k + at.y < canvas.clientHeight;
}

// How a picture in `box` lies with a part of it in the middle of the canvas, as near as its borders let it.
function centred(canvas, box, { left, right, top, bottom }, k) {
  const along = (middle, start, size, room) => {
    if (size * k <= room) return (room - size * k) / 2 - start * k;
    return Math.min(MARGIN - start * k, Math.max(room - MARGIN - (start + size) * k, room / 2 - middle * k));
  };
  return { k, x: along((left + right) / 2, box[0], box[2], canvas.clientWidth), y: along((top + bottom) / 2, box[1], box[3], canvas.clientHeight - BELOW) };
}

function topmost(elements) {
  const tops = elements.map((element) => [element.getBoundingClientRect().top, element]);
  return tops.length ? tops.reduce((best, next) => (next[0] < best[0] ? next : best))[1] : null;
}
