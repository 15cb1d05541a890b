// SVG from text by allow-list: what is not named here does not reach the page.

const SVG_ELEMENTS = new Set(["svg", "g", "path", "polygon", "polyline", "ellipse", "circle", "rect", "line", "text", "tspan", "title", "defs", "marker"]);
const SVG_ATTRIBUTES = new Set(
  ("id class d points x y x1 y1 x2 y2 cx cy r rx ry width height viewBox transform fill stroke stroke-width stroke-dasharray stroke-linejoin " +
    "stroke-linecap fill-opacity stroke-opacity opacity text-anchor font-size font-weight font-family font-style dominant-baseline " +
    "marker-end orient refX refY markerWidth markerHeight").split(" "),
);
const SVG_VALUE = /^[^<>&;{}\\@]*$/;
const SVG_URL = /url\s*\(|javascript:|data:|expression/i;
const TOKEN_OF = new Map(Object.entries(LIGHT).map(([name, value]) => [value, `var(--${name})`]));
const HALO = /^stroke:var\(--(\w+)\);stroke-width:([\d.]+);stroke-linejoin:round;paint-order:stroke;?$/;

function importSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const source = parsed.documentElement;
  if (source.localName !== "svg" || parsed.querySelector("parsererror")) return null;
  return copyElement(source);
}

function copyElement(source) {
  const target = document.createElementNS("http://www.w3.org/2000/svg", source.localName);
  for (const { name, value } of source.attributes) copyAttribute(target, name, value);
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) target.append(document.createTextNode(child.data));
    else if (child.nodeType === Node.ELEMENT_NODE && SVG_ELEMENTS.has(child.localName)) target.append(copyElement(child));
  }
  return target;
}

// Ids and classes may hold any text: they are only compared, and set as attribute values.
function copyAttribute(target, name, value) {
  if (name === "id") target.dataset.id = value;
  else if (name === "style") copyHalo(target, value);
  else if (!SVG_ATTRIBUTES.has(name)) return;
  else if (name === "class") target.setAttribute("class", value);
  else if (SVG_VALUE.test(value) && !SVG_URL.test(value)) target.setAttribute(name, TOKEN_OF.get(value.toLowerCase()) || value);
}

// The one style that presenters write: a halo behind a label.
function copyHalo(target, value) {
  const halo = HALO.exec(value);
  if (!halo) return;
  target.style.stroke = `var(--${halo[1]})`;
  target.style.strokeWidth = halo[2];
  target.style.paintOrder = "stroke";
}

// How much larger a PNG is than its SVG, and the pixels of its longer side at the most.
const PNG_SCALE = 2;
const PNG_SIDE = 8000;

// For a file: token values written out, presentation of the component left behind.
function exportSvg(picture) {
  const copy = picture.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const [, , width, height] = (copy.getAttribute("viewBox") || "").split(/[\s,]+/);
  if (height) Object.entries({ width, height }).forEach(([name, value]) => copy.setAttribute(name, value));
  copy.removeAttribute("style");
  copy.querySelectorAll(".view").forEach((group) => group.removeAttribute("transform"));
  const text = new XMLSerializer().serializeToString(copy);
  const concrete = text.replace(/var\(--(\w+)\)/g, (whole, name) => (name === "mono" ? "monospace" : LIGHT[name] || whole));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${concrete}`;
}

// Draws an SVG of `exportSvg` twice as large, on the light background that its colours are made for.
async function downloadPng(name, text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(PNG_SCALE, PNG_SIDE / Math.max(image.width, image.height));
  const canvas = el("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = LIGHT.bg;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(name, "image/png", blob));
}

function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: url, download: name.replace(/[^\w.-]+/g, "_") || "graph" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
