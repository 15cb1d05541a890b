// What the tables of the Partition page say: names, sizes, lines.

import type { Flow } from "#generated/models";
import { bytesText, count } from "#shared/tables";

/** The name of a region without that of its target. */
export function shortName(name: string, target: string): string {
  return name.startsWith(`${target} `) ? name.slice(target.length + 1) : name;
}

/** How many bytes flow; a plus says that the size of one is known only at run time. */
export function sizeOf(flows: readonly Flow[]): string {
  const known = flows.reduce((sum, item) => sum + (item.size_bytes ?? 0), 0);
  return bytesText(known) + (flows.some((item) => item.size_bytes === null) ? "+" : "");
}

/** How many values flow, of which type if it is one, and their bytes. */
export function flowsText(items: readonly Flow[]): string {
  const [first] = items;
  if (!first) return "0 B";
  const types = new Set(items.map((item) => item.type));
  const isBrief = types.size === 1 && first.type.length < 12;
  return `${isBrief ? `${items.length} × ${first.type}` : count(items.length, "value")}, ${sizeOf(items)}`;
}

export function titleOf(items: readonly Flow[]): string {
  return items.map((item) => `${item.source || item.name}: ${item.type}`).join("\n");
}

/** A path of operators, of a long one the ends and how many lie between. */
export function shortPath(path: readonly string[]): readonly string[] {
  return path.length > 8 ? [...path.slice(0, 4), `${path.length - 7} more`, ...path.slice(-3)] : path;
}
