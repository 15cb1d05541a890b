// The parameters of a function with many of them, which a view may fold into a few words.

const FROM = 16;
const HEAD = /^\s*(?:def|fn)\b[^(]*\(/;
const OPENING = "([{";
const CLOSING = ")]}";
// Strings are passed over as a whole.
const SIGNS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[,()[\]{}]/g;

/** Where the parameters stand in a line, in UTF-16 units, and their names. */
export interface Parameters {
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

/** The parameters of the function that a line begins; null if it begins none, or one that has few. */
export function manyParameters(line: string): Parameters | null {
  // Each has a name, a colon, a type and a comma.
  if (line.length < FROM * 4) return null;
  const head = HEAD.exec(line);
  if (!head) return null;
  const from = head[0].length;
  const [commas, to] = commasFrom(line, from);
  if (to < 0 || commas.length + 1 < FROM) return null;
  const starts = [from, ...commas.map((place) => place + 1)];
  const names = starts.map((start, i) => nameIn(line.slice(start, commas[i] ?? to))).filter((name) => name);
  return names.length < FROM ? null : { from, to, names };
}

/** Says in so many columns how many there are and what the first ones are called. */
export function parametersWords(names: readonly string[], columns: number): string {
  let words = `${names.length} parameters`;
  for (const [i, name] of names.entries()) {
    const longer = `${words}${i ? "," : ":"} ${name}`;
    if (longer.length + 3 > columns) return i ? `${words}, …` : words;
    words = longer;
  }
  return words;
}

// The commas between parameters, and the bracket that ends them; -1 if nothing does.
function commasFrom(line: string, from: number): readonly [commas: readonly number[], end: number] {
  const commas: number[] = [];
  let depth = 0;
  for (const { 0: sign, index } of line.slice(from).matchAll(SIGNS)) {
    if (sign === "," && depth === 0) commas.push(from + index);
    if (OPENING.includes(sign)) depth += 1;
    if (CLOSING.includes(sign)) depth -= 1;
    if (depth < 0) return [commas, from + index];
  }
  return [commas, -1];
}

function nameIn(parameter: string): string {
  return /^\s*([^\s:=]+)/.exec(parameter)?.[1] ?? "";
}
