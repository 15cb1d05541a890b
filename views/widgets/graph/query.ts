// What is looked for in a graph: words, regular expressions, and conditions on operators, dtypes, names and shapes.
//
//   matmul layers_3          both words, in any case, in the operator, the name, the type or the function
//   /^layers_\d+_qkv/        a regular expression on the same
//   op = R.matmul and dtype != f32        name ~ norm$        shape = (1, n, 16)        shape[-1] >= 512

/** What a node is searched by. */
export interface Searched {
  readonly title: string;
  readonly subtitle: string;
  readonly name: string;
  readonly is_call: boolean;
  readonly function?: string;
}

export type Test = (node: Searched) => boolean;

/** A query that says nothing: why, and at which column, counted from 1. */
export class QueryError {
  constructor(
    readonly column: number,
    readonly words: string,
  ) {}
}

type Compare = "=" | "!=" | "~" | "<" | "<=" | ">" | ">=";

interface Value {
  readonly text: string;
  readonly pattern: RegExp | undefined;
}

const FIELD = /(op|operator|dtype|name|shape(?:\[(-?\d+)\])?|rank)\s*(!=|<=|>=|=|~|<|>)\s*/iy;
const AND = /and(?=\s|$)/iy;
const VALUE = /"([^"]*)"|\/((?:\\.|[^/\\])*)\/|(\([^()]*\))|([^\s"/(]\S*)/y;
// What follows `~` is a regular expression with slashes around it or without.
const LOOSE_VALUE = /"([^"]*)"|\/((?:\\.|[^/\\])*)\/(?=\s|$)|()(\S+)/y;
const PATTERN = /\/((?:\\.|[^/\\])*)\/(?=\s|$)/y;
const QUOTED = /"([^"]*)"/y;
const WORD = /\S+/y;
const SPACE = /\s*/y;
const SHAPE = /\(([^()]*)\)/g;
const LONG_DTYPE = /^(bfloat|float|uint|int)(\d+)$/;
const SHORT: Readonly<Record<string, string>> = { bfloat: "bf", float: "f", uint: "u", int: "i" };

/** Reads a query; one without a word has no test that a node passes. */
export function readQuery(text: string): Test | QueryError {
  const tests: Test[] = [];
  let at = after(SPACE, text, 0);
  while (at < text.length) {
    const read = tests.length && match(AND, text, at) ? after(AND, text, at) : term(text, at, tests);
    if (read instanceof QueryError) return read;
    at = after(SPACE, text, read);
  }
  return (node) => tests.length > 0 && tests.every((test) => test(node));
}

// Adds the test that begins at a place; returns the place behind it.
function term(text: string, at: number, tests: Test[]): number | QueryError {
  const field = match(FIELD, text, at);
  if (field) return condition(text, at, field, tests);
  const pattern = match(PATTERN, text, at);
  if (pattern) {
    const wanted = expression(pattern[1] ?? "");
    if (!wanted) return new QueryError(at + 1, "this is no regular expression");
    tests.push((node) => wanted.test(whole(node)));
    return at + pattern[0].length;
  }
  const quoted = match(QUOTED, text, at);
  const word = quoted?.[1] ?? match(WORD, text, at)?.[0] ?? "";
  const wanted = word.toLowerCase();
  tests.push((node) => whole(node).toLowerCase().includes(wanted));
  return at + (quoted?.[0] ?? word).length;
}

function condition(text: string, at: number, field: RegExpExecArray, tests: Test[]): number | QueryError {
  const [start, name = "", dim, sign] = field;
  const from = at + start.length;
  const found = match(sign === "~" ? LOOSE_VALUE : VALUE, text, from);
  if (!found) return new QueryError(from + 1, `what \`${name}\` is compared with is missing`);
  const [written, quoted, pattern, tuple, plain] = found;
  const compare = sign as Compare;
  const words = quoted ?? pattern ?? (tuple || plain || "");
  const isPattern = pattern !== undefined || compare === "~";
  const value: Value = {
    text: words,
    pattern: isPattern ? expression(words) : undefined,
  };
  if (isPattern && !value.pattern) return new QueryError(from + 1, "this is no regular expression");
  const isOrder = /[<>]/.test(compare);
  const isNumber = name.toLowerCase() === "rank" || dim !== undefined;
  if (isOrder && !isNumber) return new QueryError(at + 1, `\`${name}\` has no order: write \`=\`, \`!=\` or \`~\``);
  if (isOrder && !/^-?\d+$/.test(value.text)) return new QueryError(from + 1, "a number is missing");
  tests.push(testOf(name.toLowerCase(), dim, compare, value));
  return from + written.length;
}

function testOf(name: string, dim: string | undefined, compare: Compare, value: Value): Test {
  const holds = (found: readonly string[], wanted: string): boolean => {
    const { pattern } = value;
    const equal = pattern ? found.some((item) => pattern.test(item)) : found.includes(wanted);
    return compare === "!=" ? found.length > 0 && !equal : equal;
  };
  if (name === "rank" || dim !== undefined) return (node) => ordered(numbersOf(node, dim), compare, value, holds);
  if (name === "name") return (node) => holds(node.name ? [node.name] : [], value.text);
  if (name === "dtype") return (node) => holds(dtypesOf(node), shortDtype(value.text));
  if (name === "shape") return (node) => holds(shapesOf(node), value.text.replace(/\s+/g, ""));
  const operator = value.text.replace(/^(?:R|relax)\./, "");
  return (node) => holds(node.is_call ? [node.title] : [], operator);
}

function ordered(
  found: readonly string[],
  compare: Compare,
  value: Value,
  holds: (found: readonly string[], wanted: string) => boolean,
): boolean {
  const wanted = Number(value.text);
  const isSome = (test: (size: number) => boolean) => found.some((size) => /^\d+$/.test(size) && test(Number(size)));
  if (compare === "<") return isSome((size) => size < wanted);
  if (compare === "<=") return isSome((size) => size <= wanted);
  if (compare === ">") return isSome((size) => size > wanted);
  if (compare === ">=") return isSome((size) => size >= wanted);
  return holds(found, value.text);
}

// The sizes of a dimension, or the ranks, of the tensors that a node makes.
function numbersOf(node: Searched, dim: string | undefined): readonly string[] {
  return shapesOf(node).flatMap((shape) => {
    const sizes = shape.slice(1, -1).split(",").filter(Boolean);
    if (dim === undefined) return [String(sizes.length)];
    const size = sizes.at(Number(dim));
    return size === undefined ? [] : [size];
  });
}

// A subtitle is the name, if it has one, and then the type.
function typeOf(node: Searched): string {
  const { name, subtitle } = node;
  return name && subtitle.startsWith(name) ? subtitle.slice(name.length) : subtitle;
}

function shapesOf(node: Searched): readonly string[] {
  return [...typeOf(node).matchAll(SHAPE)].map(([shape]) => shape.replace(/\s+/g, ""));
}

function dtypesOf(node: Searched): readonly string[] {
  return typeOf(node).replace(SHAPE, " ").match(/\w+/g) ?? [];
}

/** A dtype as pictures write it: `f32` for `float32`. */
function shortDtype(dtype: string): string {
  const [, kind = "", bits = ""] = LONG_DTYPE.exec(dtype) ?? [];
  return bits ? `${SHORT[kind]}${bits}` : dtype;
}

function whole(node: Searched): string {
  return [node.title, node.subtitle, node.function ?? ""].join(" ");
}

function expression(text: string): RegExp | undefined {
  try {
    return new RegExp(text, "i");
  } catch {
    return undefined;
  }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function after(pattern: RegExp, text: string, at: number): number {
  return at + (match(pattern, text, at)?.[0].length ?? 0);
}
