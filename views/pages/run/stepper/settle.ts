// Elements that stay in the page while others around them come and go.

/** Lets a box hold `wanted` in this order; as few as can be are moved, since what moves is laid out again. */
export function settle(box: Element, wanted: readonly (Node | string)[]): void {
  const isWanted = new Set(wanted);
  for (const child of [...box.childNodes]) if (!isWanted.has(child)) child.remove();
  const places = new Map<Node | string, number>([...box.childNodes].map((child, place) => [child, place]));
  const stays = longestRising(wanted.map((child) => places.get(child) ?? -1));
  let at = box.firstChild;
  wanted.forEach((child, index) => {
    if (stays.has(index)) at = (child as Node).nextSibling;
    else box.insertBefore(typeof child === "string" ? document.createTextNode(child) : child, at);
  });
}

/** The indices of a longest part of `numbers` that rises; negative ones are none of it. */
export function longestRising(numbers: readonly number[]): ReadonlySet<number> {
  // The last index of the best part of each length, and what comes before each index in its part.
  const ends: number[] = [];
  const before: number[] = [];
  numbers.forEach((number, index) => {
    if (number < 0) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  });
  const found = new Set<number>();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) found.add(index);
  return found;
}
