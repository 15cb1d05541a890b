// Words and heads of the tables beside a graph.

function headOf(title, note, ...rest) {
  return el("div", { class: "ph top" }, el("b", { role: "heading", "aria-level": "2" }, title), note ? el("span", { class: "n" }, note) : "", rest);
}

function count(number, noun, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : many || noun + "s"}`;
}

// A name of several words may break between them.
function pieces(name) {
  return name.split(/(?<=_)|(?<=[a-z])(?=[A-Z])/).map((word, k) => [k ? el("wbr") : "", word]);
}

// A name at the start stays as it is.
function sentence(text, name) {
  const start = text.startsWith(name) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return (start + text.slice(1)).replaceAll("->", "→") + (/[.!?]$/.test(text) ? "" : ".");
}

function bytesText(number) {
  if (number < 1000) return `${number} B`;
  const [unit, by] = number < 1e6 ? ["kB", 1e3] : number < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${(number / by).toFixed(1)} ${unit}`;
}
