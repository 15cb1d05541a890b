// A frame of the film as a picture of its own: what is away is left out, marks are written out as attributes.

const TONE: Readonly<Record<string, string>> = { added: "add", removed: "del", changed: "chg", moved: "mov" };
const SHAPES = ["rect", "polygon", "path", "ellipse"];

/** A copy of the picture with what is seen of it. */
export function written(picture: SVGSVGElement): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  for (const group of copy.querySelectorAll(".away")) group.remove();
  for (const [mark, tone] of Object.entries(TONE)) {
    const shapes = SHAPES.map((name) => `.node.is-${mark}>${name}`).join();
    const colours = { stroke: `var(--${tone})`, fill: `var(--${tone}Bg)`, "stroke-width": "1.6" };
    write(copy, shapes, colours);
    write(copy, `.node.is-${mark}>.sign`, { fill: `var(--${tone})`, "font-size": "12", "font-weight": "bold" });
    write(copy, `.edge.is-${mark}>path`, { stroke: `var(--${tone})` });
  }
  write(copy, ".node.gone", { opacity: "0.45" });
  return copy;
}

function write(picture: SVGSVGElement, selector: string, attributes: Readonly<Record<string, string>>): void {
  for (const item of picture.querySelectorAll(selector)) {
    for (const [name, value] of Object.entries(attributes)) item.setAttribute(name, value);
  }
}
