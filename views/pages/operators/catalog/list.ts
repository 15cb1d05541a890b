// Which entries of the catalogue are shown, and which one a key leads to.

import type { Catalog, Entry, Family } from "#generated/models";
import { between } from "#shared/values";

export type Area = keyof Catalog;

/** Whether an entry is an operator or a packed function: its id says so. */
export function areaOf(id: string): Area {
  return id.startsWith("packed/") ? "packed" : "operators";
}

/** The families with the entries that have all words of a search, those without any left out. */
export function found(families: readonly Family[], search: string): readonly Family[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return families;
  return families
    .map((family) => ({ ...family, entries: family.entries.filter((entry) => has(entry, words)) }))
    .filter((family) => family.entries.length);
}

function has(entry: Entry, words: readonly string[]): boolean {
  const text = `${entry.name} ${entry.relay_name} ${entry.summary}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export function entriesOf(families: readonly Family[]): readonly Entry[] {
  return families.flatMap((family) => family.entries);
}

/** The entry that so many steps lead to; the first one if the current one is not shown, undefined if none is. */
export function neighbour(entries: readonly Entry[], current: string, by: number): string | undefined {
  const place = entries.findIndex((entry) => entry.id === current);
  return entries[place < 0 ? 0 : between(0, place + by, entries.length - 1)]?.id;
}

/** "Elements: arithmetic, ..." is "Elements"; the whole title is in the hover and for readers of the screen. */
export function shortTitle(title: string): string {
  const short = title.split(/[:;.]/)[0] ?? "";
  return short.length > 60 ? (short.split(",")[0] ?? "") : short;
}
