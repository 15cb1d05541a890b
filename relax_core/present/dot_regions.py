"""Compiler regions as DOT: boxes in the colour of their target, half-moons for ports, rows of ports."""

from collections.abc import Iterator, Mapping

from relax_core.present.drawing import DrawCluster, DrawEdge, Drawing, DrawNode
from relax_core.present.escape import markup
from relax_core.present.measures import cut
from relax_core.present.ranks import consistent
from relax_core.present.target_marks import NONE
from relax_core.present.theme import LIGHT

_LABEL_COLUMNS = 28
PORTS = frozenset(("begin", "end"))
_PORT_SIZE = "0.12"


def port_attributes(item: DrawNode) -> dict[str, str]:
    """Return the attributes of a port, a half-moon; hollow and red if its region never ends."""
    line = LIGHT["error"] if item.is_open else LIGHT[item.category or NONE]
    fill = LIGHT["bg"] if item.is_open else line
    moon = f"{LIGHT['bg']};0.5:{fill}"
    return {
        "shape": "circle", "style": "wedged", "width": _PORT_SIZE, "height": _PORT_SIZE, "fixedsize": "true",
        "margin": "0", "color": line, "fillcolor": moon,
    }  # fmt: skip


def label_text(item: DrawNode) -> str:
    """Write a region's label as a node in the rank of its begins, where no edge can cross it."""
    title, sub = (markup(cut(text, _LABEL_COLUMNS)) or " " for text in (item.title, item.sub))
    small = f'<FONT POINT-SIZE="8">{sub}</FONT>'
    left = '<BR ALIGN="LEFT"/>'
    return f'<<FONT COLOR="{LIGHT[item.category or NONE]}"><B>{title}</B>{left}{small}{left}</FONT>>'


def region_attributes(cluster: DrawCluster) -> str:
    """Write the attributes of a region's box besides its class and id."""
    line, fill = LIGHT[cluster.category or NONE], LIGHT[f"{cluster.category or NONE}Bg"]
    style = "rounded,dashed" if cluster.is_open else "rounded"
    return f'style="{style}"; penwidth=1.6; color="{line}"; bgcolor="{fill}"; label=""; margin=12'


def category_attributes(item: DrawNode) -> dict[str, str]:
    """Return the border of a node that goes to a target; to none: dashed."""
    if not item.category:
        return {}
    dashed = {"style": "rounded,filled,dashed"} if item.category == NONE and item.look in ("op", "call") else {}
    return {"color": LIGHT[item.category], **dashed}


def write_rows(drawing: Drawing, names: Mapping[str, str]) -> Iterator[str]:
    """Write the rank constraints: the drawing's pairs, and the ports on the borders of each region.

    The label stands left of the begins. Ends share a rank if they can.
    """
    across: dict[tuple[str, str], str] = dict.fromkeys(drawing.same_rank, "")
    for cluster in drawing.clusters:
        if cluster.kind == "region":
            across |= _rows([item for item in drawing.nodes if item.cluster == cluster.key])
    drawn = (*drawing.edges, *(DrawEdge(a, b) for (a, b), how in across.items() if how == "above"))
    beside = set(consistent((pair for pair, how in across.items() if how != "above"), drawn))
    for (a, b), how in across.items():
        if how == "above":
            yield f"{names[a]} -> {names[b]} [style=invis]"
        elif (a, b) in beside:
            yield f"{{rank=same; {names[a]}{' -> ' if how else '; '}{names[b]}{' [style=invis]' if how else ''}}}"


def _rows(members: list[DrawNode]) -> dict[tuple[str, str], str]:
    """Return the pairs of one region: beside each other, `left` of it, or `above` it."""
    labels = [item.key for item in members if item.look == "region"]
    begins = [item.key for item in members if item.look == "begin"]
    ends = [item.key for item in members if item.look == "end"]
    others = [item.key for item in members if item.look not in (*PORTS, "region")]
    if not begins:
        return {(label, key): "above" for label in labels for key in (*others, *ends)[:1]}
    rows = {(label, key): "left" for label in labels for key in begins}
    rows |= {(begins[0], key): "" for key in begins[1:]}
    return rows | {(ends[0], key): "" for key in ends[1:]}


def port_classes(item: DrawNode, boxes: Mapping[str, str]) -> str:
    """Return classes of a node in a region's box: which box, and what a port does."""
    if item.cluster not in boxes:
        return ""
    open_ = " open" if item.is_open else ""
    return f"{'port ' if item.look in PORTS else ''}in-{boxes[item.cluster]}{open_}"


def into_port(edge: str, name: str) -> str:
    """Let a written edge end at the port `name`, without a head."""
    return f"{edge[:-1]}, arrowhead=none]".replace('class="', f'class="to-{name} ', 1)
