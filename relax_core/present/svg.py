"""DOT to SVG that is safe in a page: laid out by Graphviz, filtered by an allow-list, colours as variables.

The layout holds the interpreter's lock, so it belongs into a worker.
"""

import fcntl
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import lru_cache
from types import MappingProxyType
from typing import cast

import pygraphviz  # pyright: ignore[reportMissingTypeStubs]  # pygraphviz has no types

from relax_core.present.svg_regions import settle_regions
from relax_core.present.theme import variable_of

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
            words = cluster.get("class", "").replace("cluster", "cluster-label", 1)
            holder = ET.SubElement(graph, "g", {"class": words})
            holder.extend(texts)
