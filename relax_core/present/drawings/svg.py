"""DOT to SVG that is safe in a page: laid out by Graphviz, filtered by an allow-list, colours as variables.

The layout holds the interpreter's lock, so it belongs into a worker.

A region's begins stand on one row with its label, its ends on another. The box's borders are moved to these rows,
so no edge needs another course: an edge into a port goes on to the port's middle.
"""

import fcntl
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import cast

import pygraphviz  # pyright: ignore[reportMissingTypeStubs]  # pygraphviz has no types

from relax_core.present.theme import variable_of

_NUMBER = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")
_BOX_CLASS = re.compile(r"(?:^| )in-(c[0-9]+)(?: |$)")
_TARGET_CLASS = re.compile(r"(?:^| )to-(n[0-9]+)(?: |$)")
_RADIUS = 5.5
_LABEL_GAP, _LABEL_HEIGHT = 5.0, 30.0


@dataclass(frozen=True, slots=True)
class Extent:
    """The box around what is drawn, in the coordinates of the picture."""

    left: float
    top: float
    right: float
    bottom: float


_SVG = "http://www.w3.org/2000/svg"
_ELEMENTS = frozenset(("svg", "g", "path", "polygon", "polyline", "ellipse", "rect", "text"))
_NUMBERS = re.compile(r"^[-+0-9.,eE ]*$")
_PATH = re.compile(r"^[-+0-9.,eE MLCZHVAzmlchva]*$")
_ID = re.compile(r"^[nec][0-9]+$")
_CLASS = re.compile(r"^[a-z0-9_ -]*$")
_TRANSFORM = re.compile(r"^((scale|rotate|translate)\([-+0-9.,eE ]*\) ?)*$")
_WORD = re.compile(r"^[a-z]*$")
_PATTERN_OF = MappingProxyType(
    {
        "d": _PATH,
        "points": _NUMBERS,
        "transform": _TRANSFORM,
        "class": _CLASS,
        "id": _ID,
        "viewBox": _NUMBERS,
        "text-anchor": _WORD,
        "font-weight": _WORD,
        "font-style": _WORD,
        "fill-opacity": _NUMBERS,
        "stroke-opacity": _NUMBERS,
        **dict.fromkeys(("x", "y", "cx", "cy", "rx", "ry", "width", "height"), _NUMBERS),
        **dict.fromkeys(("stroke-width", "stroke-dasharray", "font-size"), _NUMBERS),
    }
)
_COORDINATE = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")
_SHAPES_WITH_CORNERS = frozenset(("diamond", "field", "if"))
NODE_RADIUS, CLUSTER_RADIUS = 4, 7
_HEX_OF_NAME = MappingProxyType({"white": "#ffffff"})
_HALO = "stroke:var(--canvas);stroke-width:2.6;stroke-linejoin:round;paint-order:stroke"


class GraphTooLargeError(Exception):
    """The DOT text does not fit through a pipe."""


@lru_cache(maxsize=64)
def layout(dot: str) -> str:
    """Lay out `dot` and return clean SVG without width and height; its `viewBox` is in points.

    Raises:
        GraphTooLargeError: the text is larger than the pipes of this machine.
    """
    graph = pygraphviz.AGraph()
    try:
        _read(graph, dot.encode())
        drawn = cast("object", graph.draw(format="svg", prog="dot"))  # pyright: ignore[reportUnknownMemberType]  # no types
    finally:
        graph.close()
    assert isinstance(drawn, bytes)
    return clean(drawn)


def _read(graph: pygraphviz.AGraph, text: bytes) -> None:
    """Parse DOT through a pipe: pygraphviz's own way writes a temporary file, which a worker may not."""
    reading, writing = os.pipe()
    with open(reading, "rb") as reader:
        with open(writing, "wb", buffering=0) as writer:
            try:
                fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, max(len(text), 1 << 16))
            except OSError:
                raise GraphTooLargeError from None
            os.set_blocking(writer.fileno(), False)
            if writer.write(text) != len(text):
                raise GraphTooLargeError
        graph.read(reader)  # pyright: ignore[reportUnknownMemberType]  # no types


def clean(drawn: bytes) -> str:
    """Copy allowed elements into a new SVG: no script, link, style, image or foreign element survives."""
    root = _copied(ET.fromstring(drawn))
    assert root is not None, "Graphviz draws an svg element"
    root.set("xmlns", _SVG)
    for group in tuple(root.iter("g")):
        _touch_up(group)
    for graph in root.findall("g"):
        settle_regions(graph)
    _labels_last(root)
    return ET.tostring(root, encoding="unicode")


def _copied(source: ET.Element) -> ET.Element | None:
    """Copy an element that is allowed, with the attributes and children that are."""
    tag = source.tag.removeprefix(f"{{{_SVG}}}")
    if tag == "a":
        tag = "g"
    if tag not in _ELEMENTS:
        return None
    target = ET.Element(tag, dict(_attributes(source)))
    if tag == "svg":
        target.attrib.pop("width", None)
        target.attrib.pop("height", None)
    if tag == "text":
        target.text = "".join(source.itertext())
    for child in source:
        copy = _copied(child) if tag != "text" else None
        if copy is not None:
            target.append(copy)
    return target


def _attributes(source: ET.Element) -> Iterator[tuple[str, str]]:
    for name, value in source.attrib.items():
        if name in ("fill", "stroke"):
            yield name, _colour(value)
        elif name == "font-family":
            yield name, "var(--mono)"
        elif (pattern := _PATTERN_OF.get(name)) is not None and pattern.match(value):
            yield name, value


def _colour(value: str) -> str:
    if value in ("none", "transparent"):
        return "none"
    return variable_of(_HEX_OF_NAME.get(value, value)) or "var(--text)"


def _touch_up(group: ET.Element) -> None:
    """Round the boxes, and give labels of edges and clusters a halo."""
    classes = group.get("class", "").split()
    if "node" in classes and not _SHAPES_WITH_CORNERS.intersection(classes):
        _round(group, None if "pill" in classes else NODE_RADIUS)
    elif "cluster" in classes:
        _round(group, CLUSTER_RADIUS)
    if "edge" in classes or "cluster" in classes:
        for text in group.findall("text"):
            text.set("style", _HALO)


def _round(group: ET.Element, radius: int | None) -> None:
    """Replace paths (Graphviz's rounded boxes) by rectangles; `None` rounds the ends to half circles."""
    for path in group.findall("path"):
        numbers = [float(item) for item in _COORDINATE.findall(path.get("d", ""))]
        xs, ys = numbers[0::2], numbers[1::2]
        if len(xs) < 4:
            continue
        left, top, width, height = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
        path.tag = "rect"
        path.attrib.pop("d")
        box = {"x": left, "y": top, "width": width, "height": height, "rx": height / 2 if radius is None else radius}
        path.attrib.update({name: f"{value:.2f}" for name, value in box.items()})


def _labels_last(root: ET.Element) -> None:
    """Draw the labels of clusters above the edges."""
    graph = root.find("g")
    if graph is None:
        return
    for cluster in [item for item in graph.findall("g") if "cluster" in item.get("class", "").split()]:
        texts = cluster.findall("text")
        for text in texts:
            cluster.remove(text)
        if texts:
            words = f"{cluster.get('class', '').replace('cluster', 'cluster-label', 1)} of-{cluster.get('id', '')}"
            holder = ET.SubElement(graph, "g", {"class": words})
            holder.extend(texts)


def settle_regions(graph: ET.Element) -> None:
    """Move the borders of regions to their ports, and draw the ports."""
    groups = list(graph.findall("g"))
    members: dict[str, list[ET.Element]] = {}
    for group in groups:
        found = _BOX_CLASS.search(group.get("class", ""))
        if found is not None:
            members.setdefault(found[1], []).append(group)
    if not members:
        return
    ports = [group for items in members.values() for group in items if _is(group, "port")]
    middle = {group.get("id", ""): _middle(extent_of(group)) for group in ports}
    for cluster in groups:
        if _is(cluster, "region"):
            _settle(cluster, members.get(cluster.get("id", ""), []))
    for edge in groups:
        target = _TARGET_CLASS.search(edge.get("class", ""))
        if target is not None and target[1] in middle:
            _lead_to(edge, *middle[target[1]])
    for port in ports:
        _draw_moon(port, *middle[port.get("id", "")])
        graph.remove(port)
        graph.append(port)


def _is(group: ET.Element, name: str) -> bool:
    return name in group.get("class", "").split()


def _points(group: ET.Element) -> Iterator[tuple[float, float]]:
    for shape in group.iter():
        match shape.tag:
            case "path" | "polygon" | "polyline":
                text = shape.get("d", "") or shape.get("points", "")
                numbers = [float(item) for item in _NUMBER.findall(text)]
                yield from zip(numbers[0::2], numbers[1::2], strict=False)
            case "rect":
                x, y, width, height = (float(shape.get(name, "0")) for name in ("x", "y", "width", "height"))
                yield from ((x, y), (x + width, y + height))
            case "ellipse":
                x, y, rx, ry = (float(shape.get(name, "0")) for name in ("cx", "cy", "rx", "ry"))
                yield from ((x - rx, y - ry), (x + rx, y + ry))
            case _:
                pass


def extent_of(group: ET.Element) -> Extent:
    """Return the box around the shapes of a group, its texts left out."""
    points = list(_points(group)) or [(0.0, 0.0)]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Extent(min(xs), min(ys), max(xs), max(ys))


def _middle(extent: Extent) -> tuple[float, float]:
    return (extent.left + extent.right) / 2, (extent.top + extent.bottom) / 2


def _settle(cluster: ET.Element, members: Iterable[ET.Element]) -> None:
    """Move a box's upper border to its begins and its lower border to its ends, if nothing lies beyond them."""
    box = cluster.find("rect")
    if box is None:
        return
    parts = list(members)
    begins = [_middle(extent_of(item))[1] for item in parts if _is(item, "begin")]
    ends = [_middle(extent_of(item))[1] for item in parts if _is(item, "end")]
    content = [extent_of(item) for item in parts if not _is(item, "port") and not _is(item, "region-label")]
    top = float(box.get("y", "0"))
    bottom = top + float(box.get("height", "0"))
    if begins and all(item.top > min(begins) for item in content):
        top = min(begins)
        for label in parts:
            if _is(label, "region-label"):
                _move_below(label, top + _LABEL_GAP)
    if ends and all(item.bottom < max(ends) for item in content):
        bottom = max(ends)
    if not ends:
        bottom = max(bottom, top + _LABEL_HEIGHT)
    box.set("y", f"{top:.2f}")
    box.set("height", f"{bottom - top:.2f}")
    if _is(cluster, "open"):
        _open_below(box, top, bottom)


def _move_below(label: ET.Element, top: float) -> None:
    """Move a label so that it begins at `top`."""
    texts = label.findall("text")
    if texts:
        by = top + float(texts[0].get("font-size", "10")) - float(texts[0].get("y", "0"))
        for text in texts:
            text.set("y", f"{float(text.get('y', '0')) + by:.2f}")


def _open_below(box: ET.Element, top: float, bottom: float) -> None:
    """Leave out the lower border: the region never ends."""
    left, width = float(box.get("x", "0")), float(box.get("width", "0"))
    for name in ("x", "y", "width", "height", "rx"):
        box.attrib.pop(name, None)
    box.tag = "path"
    box.set("d", f"M{left:.2f},{bottom:.2f}V{top:.2f}H{left + width:.2f}V{bottom:.2f}")
    box.set("stroke-dasharray", "5,2")


def _lead_to(edge: ET.Element, x: float, y: float) -> None:
    for path in edge.findall("path"):
        path.set("d", f"{path.get('d', '')} L{x:.2f},{y:.2f}")


def _draw_moon(port: ET.Element, x: float, y: float) -> None:
    """Replace a wedged circle by a half-moon that hangs on the border: inwards at a begin, outwards at an end."""
    line = next((shape.get("stroke", "") for shape in port.iter("ellipse")), "") or "var(--text2)"
    for child in list(port):
        port.remove(child)
    moon = {
        "d": f"M{x - _RADIUS:.2f},{y:.2f}a{_RADIUS},{_RADIUS} 0 0 0 {2 * _RADIUS},0z",
        "fill": line,
        "stroke": "none",
    }
    if _is(port, "open"):
        moon |= {"fill": "var(--bg)", "stroke": line, "stroke-width": "1.4"}
    ET.SubElement(port, "path", moon)
    if _is(port, "open"):
        place = {"x": f"{x + _RADIUS + 2:.2f}", "y": f"{y - 2:.2f}", "font-size": "10", "font-weight": "bold"}
        ET.SubElement(port, "text", {**place, "font-family": "var(--mono)", "fill": line}).text = "!"
