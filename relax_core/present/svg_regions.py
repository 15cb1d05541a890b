"""Compiler regions in the SVG that Graphviz drew: borders through the rows of their ports, ports as half-moons.

A region's begins stand on one row with its label, its ends on another. The box's borders are moved to these rows,
so no edge needs another course: an edge into a port goes on to the port's middle.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBER = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")
_BOX_CLASS = re.compile(r"(?:^| )in-(c[0-9]+)(?: |$)")
_TARGET_CLASS = re.compile(r"(?:^| )to-(n[0-9]+)(?: |$)")
_RADIUS = 5.5
_LABEL_GAP, _LABEL_HEIGHT = 5.0, 30.0


@dataclass(frozen=True, slots=True)
class _Extent:
    left: float
    top: float
    right: float
    bottom: float


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
    middle = {group.get("id", ""): _middle(_extent(group)) for group in ports}
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


def _extent(group: ET.Element) -> _Extent:
    points = list(_points(group)) or [(0.0, 0.0)]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return _Extent(min(xs), min(ys), max(xs), max(ys))


def _middle(extent: _Extent) -> tuple[float, float]:
    return (extent.left + extent.right) / 2, (extent.top + extent.bottom) / 2


def _settle(cluster: ET.Element, members: Iterable[ET.Element]) -> None:
    """Move a box's upper border to its begins and its lower border to its ends, if nothing lies beyond them."""
    box = cluster.find("rect")
    if box is None:
        return
    parts = list(members)
    begins = [_middle(_extent(item))[1] for item in parts if _is(item, "begin")]
    ends = [_middle(_extent(item))[1] for item in parts if _is(item, "end")]
    content = [_extent(item) for item in parts if not _is(item, "port") and not _is(item, "region-label")]
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
