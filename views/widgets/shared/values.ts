// Values and times: reading lists by index, waiting, columns of a text.

/** An entry of a list that is known to be there. */
export function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`no entry ${index} in a list of ${list.length}`);
  return found;
}

/** A number held between two others. */
export function between(least: number, value: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

export interface Delayed<Values extends readonly unknown[]> {
  (...values: Values): void;
  cancel(): void;
}

/** Calls `action` when `milliseconds` went by without a further call, with the values of the last one. */
export function later<Values extends readonly unknown[]>(
  milliseconds: number,
  action: (...values: Values) => void,
): Delayed<Values> {
  let timer = 0;
  const call = (...values: Values) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => action(...values), milliseconds);
  };
  call.cancel = () => window.clearTimeout(timer);
  return call;
}

/** The offset of a column: columns count code points from 1, JavaScript counts UTF-16 units from 0. */
export function unitOf(text: string, column: number): number {
  if (!/[\ud800-\udfff]/.test(text)) return Math.min(text.length, column - 1);
  return [...text].slice(0, column - 1).join("").length;
}

/** The column of an offset in UTF-16 units. */
export function columnOf(text: string, unit: number): number {
  return [...text.slice(0, unit)].length + 1;
}

/** Whether the user asked for less motion. */
export function isStill(): boolean {
  return window.matchMedia("(prefers-reduced-motion:reduce)").matches;
}
