// A change to the stopped program: what a variable or a register gets, and the button that runs on with it.

const FILE_BYTES = 24 * 1024 * 1024;
const CHANGEABLE = /^(tensor|tensor0|prim|shape|string|tuple|adt|unwritten)$/;
const FILLS = ["zeros()", "ones()", "random(0)", "normal(0)"];

// `run` gets `{ text, is_in_place, content }`; `show` draws the pane `side`, which the form is in, again.
function createChange(side, run, show) {
  let draft = null;
  return { opener, form, refuse, open, close: () => (draft = null) };

  function refuse(fault) {
    if (!draft || !fault) return;
    draft.problem = fault.problem;
    requestAnimationFrame(reveal);
  }

  function redraw(focus) {
    show();
    const field = side.querySelector(`[data-focus="${focus}"]`);
    if (field) field.focus({ preventScroll: true });
    reveal();
  }

  function reveal() {
    const box = side.querySelector(".change");
    if (box) box.scrollIntoView({ block: "nearest" });
  }

  function open(target, element) {
    const place = element ? `${target.name}[${element.join(", ")}]` : target.name;
    draft = { key: target.key, place, value: "", isInPlace: false, file: null, problem: null };
    redraw("change-value");
  }

  function opener(target, value) {
    if (!target || !CHANGEABLE.test(value.kind)) return "";
    const isOpen = draft && draft.key === target.key;
    const act = () => (isOpen ? ((draft = null), redraw("change-open")) : open(target));
    return el("button", { type: "button", class: "link", "aria-expanded": String(Boolean(isOpen)), data: { focus: "change-open" }, click: act }, "Change");
  }

  function form(target, value) {
    if (!draft || !target || draft.key !== target.key) return [];
    const isTensor = /^(tensor|tensor0|unwritten)$/.test(value.kind);
    const field = (name, label, hint) => {
      const input = el("input", { type: "text", class: "m", maxlength: 400, spellcheck: "false", autocomplete: "off", placeholder: hint, "aria-label": label, data: { focus: `change-${name}` }, input: () => ((draft[name] = input.value), (draft.problem = null)), keydown: onKey });
      input.value = draft[name];
      return input;
    };
    const hint = isTensor ? `0.5, nan, ${target.name} * 2` : value.short;
    const line = el("div", { class: "change-line" }, field("place", "What is changed", ""), el("span", { class: "m" }, "="), field("value", "Its value", hint), button("Run on with this value", "p", "", submit, { data: { focus: "change-run" } }));
    return [el("div", { class: "change", role: "group", "aria-label": "Change a value" }, line, isTensor ? [fills(target), inPlace()] : "", problem())];
  }

  function onKey(event) {
    event.stopPropagation();
    if (event.key === "Enter") submit();
    if (event.key !== "Escape") return;
    draft = null;
    redraw("change-open");
  }

  function fills(target) {
    const put = (text) => () => ((draft.value = text), (draft.file = null), redraw("change-value"));
    const texts = [...FILLS, `${target.name} * 2`];
    const file = el("label", { class: "btn t file" }, draft.file ? draft.file.name : ".npy …", el("input", { type: "file", accept: ".npy", class: "sr", "aria-label": "A .npy file", data: { focus: "change-file" }, change: (event) => take(event.target.files[0]) }));
    return el("div", { class: "change-line" }, texts.map((text) => button(text, "t m", "", put(text), { data: { focus: `fill-${text}` } })), file);
  }

  function inPlace() {
    const box = el("input", { type: "checkbox", data: { focus: "change-in-place" }, change: () => (draft.isInPlace = box.checked) });
    box.checked = draft.isInPlace;
    return el("label", { class: "change-line muted" }, box, "In place: tensors that share its memory change, too");
  }

  async function take(file) {
    if (!file) return;
    if (file.size > FILE_BYTES) {
      draft.problem = { message: `The file has more than ${FILE_BYTES / 1024 / 1024} MB.`, code: "", severity: "error" };
      redraw("change-file");
      return;
    }
    const url = await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.readAsDataURL(file);
    });
    draft.file = { name: file.name, content: url.slice(url.indexOf(",") + 1) };
    draft.value = "file()";
    redraw("change-run");
  }

  function problem() {
    const found = draft.problem;
    if (!found) return "";
    return el("div", { class: "change-problem", role: "alert" }, severitySign(found.severity), " ", found.code ? el("code", { title: found.explanation }, found.code) : "", " ", prose(found.message), found.hint ? [" · ", prose(found.hint)] : "");
  }

  function submit() {
    const text = `${draft.place.trim()} = ${draft.value.trim()}`;
    const content = draft.value.trim() === "file()" && draft.file ? draft.file.content : "";
    run({ text, is_in_place: draft.isInPlace, content });
  }
}

// The place in a tensor of the cell of its table that was clicked; further axes are at 0.
function elementAt(cell, value) {
  const table = value.tensor && cell.closest && cell.closest(".heat");
  const index = table ? [...table.querySelectorAll(".cell")].indexOf(cell) : -1;
  if (index < 0) return null;
  const rank = value.type.slice(1, value.type.indexOf(")")).split(",").filter((size) => size.trim()).length;
  const last = [Math.floor(index / value.tensor.column_count), index % value.tensor.column_count];
  return rank ? [...Array(Math.max(0, rank - 2)).fill(0), ...last.slice(-rank)] : null;
}
