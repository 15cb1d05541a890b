// Looks for words in all lines of a text; the browser's own search sees only the lines that are in the page.

const FIND_DELAY = 120;
// A shorter text is whole in the page.
const FIND_LINES = 150;

// `texts()` gives the lines, `reveal(index)` shows one, `redraw` makes the rows in sight anew.
function createFind(root, label, { texts, reveal, redraw }) {
  let wanted = "";
  let found = [];
  let place = -1;
  const input = el("input", { type: "search", class: "find", placeholder: "Find", "aria-label": `Find in ${label}`, title: "Enter leads to the next line with it, Shift and Enter to the one before" });
  const count = el("span", { class: "n", role: "status" });
  const element = el("span", { class: "row finder" }, count, input);
  const search = later(FIND_DELAY, look);
  input.addEventListener("input", search);
  input.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onFind, true);
  return { element, reset, marks };

  function reset() {
    element.hidden = texts().length < FIND_LINES;
    found = [];
    wanted = input.value = "";
    say();
  }

  function look() {
    wanted = input.value;
    found = [];
    if (wanted) texts().forEach((text, index) => placesIn(text).length && found.push(index));
    place = -1;
    redraw();
    step(1);
  }

  // A word without capitals is found in any case.
  function placesIn(text) {
    const whole = wanted === wanted.toLowerCase() ? text.toLowerCase() : text;
    const places = [];
    for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length)) places.push(at);
    return places;
  }

  // What is found in a line, for `markedSpans`.
  function marks(text) {
    return wanted ? placesIn(text).map((at) => [at, at + wanted.length, "hit"]) : [];
  }

  function step(by) {
    if (found.length) {
      place = place < 0 ? 0 : (place + by + found.length) % found.length;
      reveal(found[place]);
    }
    say();
  }

  function say() {
    count.textContent = !wanted ? "" : found.length ? `${place + 1} of ${found.length.toLocaleString("en")} lines` : "not found";
  }

  function onKey(event) {
    event.stopPropagation();
    if (event.key === "Escape") {
      input.value = "";
      look();
      input.blur();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (input.value === wanted) step(event.shiftKey ? -1 : 1);
    else search.cancel(), look();
  }

  // The listener ends with its component.
  function onFind(event) {
    if (!root.isConnected) {
      document.removeEventListener("keydown", onFind, true);
      return;
    }
    if (event.defaultPrevented || element.hidden || !(event.ctrlKey || event.metaKey) || event.key !== "f" || document.querySelector("[role=dialog],[aria-modal=true]")) return;
    event.preventDefault();
    input.focus();
    input.select();
  }
}
