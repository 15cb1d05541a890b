"""Write a drawing as DOT, in the colours of the light theme, so that it looks right in any viewer."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from relax_core.present.drawings.drawing import DrawCluster, DrawEdge, Drawing, DrawNode
from relax_core.present.escape import dot_string, markup
from relax_core.present.measures import columns, cut
from relax_core.present.models import Mark, Side
from relax_core.present.regions.target_marks import NONE
from relax_core.present.theme import LIGHT, TOKENS

_LABEL_COLUMNS = 28
PORTS = frozenset(("begin", "end"))
_PORT_SIZE = "0.12"
_POINTS = 72
"""In an inch, which Graphviz gives sizes in."""


NAME_COLUMNS = 28
_SUB_COLUMNS = 44
_FONT = "DejaVu Sans Mono"
_WIDTH_OF_COLUMN = 0.602
_TITLE_SIZE, _SUB_SIZE = 10, 8

_GRAPH = (
    f'graph [bgcolor="transparent", rankdir=TB, ranksep=0.30, nodesep=0.28, splines=spline, fontname="{_FONT}", '
    f'fontsize=10, fontcolor="{LIGHT["text2"]}", labeljust=l, pad=0.08, newrank=true, compound=true]'
)
_NODE = (
    f'node  [shape=box, style="rounded,filled", fontname="{_FONT}", fontsize=10, fontcolor="{LIGHT["text"]}", '
    f'color="{LIGHT["line2"]}", fillcolor="{LIGHT["bg"]}", penwidth=1, margin="0.09,0.055", height=0.2]'
)
_EDGE = (
    f'edge  [color="{LIGHT["text2"]}", penwidth=1.1, arrowsize=0.55, arrowhead=normal, fontname="{_FONT}", '
    f'fontsize=9, fontcolor="{LIGHT["text3"]}"]'
)

_CLASS_OF_LOOK = MappingProxyType({
    "op": "call", "call": "call", "tir": "call tir", "packed": "call packed", "dps": "call packed dps",
    "param": "param pill", "return": "return pill", "closure": "call closure", "match": "call match", "cases": "match",
    "merge": "merge pill", "statement": "call statement", "composite": "call composite", "region": "region-label",
})  # fmt: skip
_ATTRIBUTES_OF_LOOK: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "param": {"fillcolor": LIGHT["chrome"], "margin": "0.15,0.055"},
        "return": {"fillcolor": LIGHT["chrome"], "margin": "0.15,0.055"},
        "merge": {"fillcolor": LIGHT["chrome"], "margin": "0.15,0.055"},
        "constant": {"style": "filled", "fillcolor": LIGHT["raised"], "color": LIGHT["raised"]},
        "global": {"style": "filled"},
        "closure": {"color": LIGHT["cat3"]},
        "tuple": {"margin": "0.06,0.02"},
        "field": {"shape": "circle", "width": "0.28", "fixedsize": "true", "margin": "0", "style": "filled"},
        "if": {"shape": "diamond", "margin": "0.02,0.02", "style": "filled"},
        "cases": {"shape": "hexagon", "margin": "0.02,0.02", "style": "filled"},
        "let": {"fillcolor": LIGHT["chrome"]},
        "folded": {"peripheries": "2"},
        "region": {"shape": "plain", "style": ""},
    }
)
_CENTRED = frozenset(("param", "return", "merge", "tuple", "field", "if", "cases", "constant"))
_EDGE_OF_KIND: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "value": {},
        "field": {},
        "order": {"style": "dashed", "color": LIGHT["text3"], "arrowhead": "vee", "constraint": "false"},
        "branch": {"style": "dashed", "color": LIGHT["text3"], "arrowhead": "vee"},
        "capture": {"style": "dotted", "arrowhead": "odiamond"},
        "reference": {"style": "dashed", "color": LIGHT["text3"], "arrowhead": "empty"},
    }
)


Pair = tuple[str, str]


def consistent(pairs: Iterable[Pair], edges: Iterable[DrawEdge]) -> tuple[Pair, ...]:
    """Return the pairs that can all hold in a drawing in which every edge points down, in order.

    Nodes of one rank are merged; a pair that would close a cycle among the merged nodes is dropped. Graphviz aborts on
    some drawings with a labelled edge within a rank whose nodes are ordered by other edges.

    Complexity: linear in the edges for each pair.
    """
    ranks = _Ranks(edges)
    return tuple(pair for pair in pairs if ranks.join(*pair))


class _Ranks:
    """The edges between merged nodes."""

    def __init__(self, edges: Iterable[DrawEdge]) -> None:
        self._rank_of: dict[str, str] = {}
        self._below: defaultdict[str, set[str]] = defaultdict(set)
        for edge in edges:
            # As in the DOT text, where other edges have constraint=false.
            if edge.kind != "order" and not edge.to_cluster and edge.source != edge.target:
                self._below[edge.source].add(edge.target)

    def join(self, a: str, b: str) -> bool:
        """Merge two nodes unless one reaches the other."""
        one, other = self._find(a), self._find(b)
        if one == other:
            return True
        if self._leads(one, other) or self._leads(other, one):
            return False
        self._rank_of[other] = one
        self._below[one] |= self._below.pop(other, set())
        return True

    def _find(self, key: str) -> str:
        while key in self._rank_of:
            key = self._rank_of[key]
        return key

    def _leads(self, start: str, end: str) -> bool:
        seen, rest = {start}, [start]
        while rest:
            for key in self._below.get(rest.pop(), ()):
                rank = self._find(key)
                if rank == end:
                    return True
                if rank not in seen:
                    seen.add(rank)
                    rest.append(rank)
        return False


def write_dot(drawing: Drawing) -> str:
    """Write `drawing` as DOT; nodes have the ids `n0`, `n1`, ..., edges `e0`, ..., clusters `c0`, ... in order."""
    names = {item.key: f"n{number}" for number, item in enumerate(drawing.nodes)}
    boxes = {item.key: f"c{number}" for number, item in enumerate(drawing.clusters)}
    ports = {item.key for item in drawing.nodes if item.look in PORTS}
    lines = [f"digraph {dot_string(drawing.title)} {{", f"  {_GRAPH}", f"  {_NODE}", f"  {_EDGE}"]
    lines += _members("", drawing, names, boxes)
    for number, edge in enumerate(drawing.edges):
        line = _edge(edge, number, names, boxes, is_compare=drawing.is_compare)
        lines.append(f"  {line if edge.target not in ports else into_port(line, names[edge.target])}")
    lines += (f"  {line}" for line in write_rows(drawing, names))
    return "\n".join((*lines, "}", ""))


def _members(outer: str, drawing: Drawing, names: dict[str, str], boxes: dict[str, str]) -> Iterator[str]:
    """Write the members of the cluster `outer`, then the clusters in it, nested as in the program."""
    indent = "  "
    regions = {item.key: boxes[item.key] for item in drawing.clusters if item.kind == "region"}
    for item in drawing.nodes:
        if item.cluster == outer:
            yield f"{indent}{names[item.key]} {_node(item, names[item.key], regions, is_compare=drawing.is_compare)}"
    for cluster in drawing.clusters:
        if cluster.parent == outer:
            yield f"{indent}subgraph cluster_{boxes[cluster.key]} {{"
            yield f"{indent}  {_cluster(cluster, boxes[cluster.key], is_compare=drawing.is_compare)}"
            yield from (f"{indent}{line}" for line in _members(cluster.key, drawing, names, boxes))
            yield f"{indent}}}"


def _node(item: DrawNode, name: str, regions: Mapping[str, str], *, is_compare: bool) -> str:
    look = " ".join(filter(None, (_CLASS_OF_LOOK.get(item.look, item.look), port_classes(item, regions))))
    attributes = {
        "label": _label(item),
        "class": dot_string(_classes(look, item.mark, item.side, is_compare=is_compare) + " faulty" * bool(item.fault)),
    }
    attributes["id"] = dot_string(name)
    own = {**_ATTRIBUTES_OF_LOOK.get(item.look, {}), **category_attributes(item), **_marked(item)}
    if item.fault:
        own |= {"color": LIGHT["error"], "fillcolor": LIGHT["errorBg"], "penwidth": "2"}
        own.pop("fixedsize", None)
    if item.look in PORTS:
        own = port_attributes(item)
    if item.least != (0.0, 0.0) and "fixedsize" not in own:
        own |= {name: f"{points / _POINTS:.4f}" for name, points in zip(("width", "height"), item.least, strict=True)}
    attributes |= {key: dot_string(value) for key, value in own.items()}
    return f"[{', '.join(f'{key}={value}' for key, value in attributes.items())}]"


def _marked(item: DrawNode) -> dict[str, str]:
    if item.mark == "unchanged":
        return {}
    look = TOKENS.marks[item.mark]
    attributes = {"color": LIGHT[look.color], "fillcolor": LIGHT[look.fill], "penwidth": "1.6"}
    if item.side == "before":
        base = _ATTRIBUTES_OF_LOOK.get(item.look, {}).get("style", "rounded,filled")
        attributes["style"] = f"{base},dashed"
    return attributes


def _label(item: DrawNode) -> str:
    """Write the HTML-like label: a row for tag and title, a row for `sub`; `WIDTH` fits any fixed-width font."""
    if item.look in PORTS:
        return '""'
    if item.look == "region":
        return label_text(item)
    mark = TOKENS.marks[item.mark]
    is_marked = item.mark != "unchanged"
    align = "CENTER" if item.look in _CENTRED else "LEFT"
    fault = TOKENS.marks["error"].sign if item.fault else ""
    tag = " ".join(filter(None, (fault, mark.sign if is_marked else "", item.tag)))
    title, sub = cut(item.title, NAME_COLUMNS), cut(item.sub, _SUB_COLUMNS)
    colour = LIGHT["error"] if fault else LIGHT[mark.color] if is_marked else LIGHT[item.category or "text3"]
    small = _font(tag, colour, _SUB_SIZE) if tag else ""
    large = f'<FONT COLOR="{LIGHT["text"]}" POINT-SIZE="{_TITLE_SIZE}"><B>{_font_text(title)}</B></FONT>'
    tag_width = _width(tag, _SUB_SIZE) + 3 if tag else 0
    sub_width = _width(sub, _SUB_SIZE) if sub else 0
    # Extra width of the second row goes to the title's column, so that the tag stays beside the title.
    title_width = max(_width(title, _TITLE_SIZE), sub_width - tag_width)
    if tag and align == "LEFT":
        cells = _cell(align, tag_width, 1, small) + _cell(align, title_width, 1, large)
    else:
        gap = '<FONT POINT-SIZE="6"> </FONT>' if tag else ""
        cells = _cell(align, title_width + tag_width, 1, f"{small}{gap}{large}")
    rows = f"<TR>{cells}</TR>"
    if sub:
        span = 2 if tag and align == "LEFT" else 1
        rows += f"<TR>{_cell(align, sub_width, span, _font(sub, LIGHT['text3'], _SUB_SIZE))}</TR>"
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{rows}</TABLE>>'


def _cell(align: str, width: int, span: int, content: str) -> str:
    return f'<TD ALIGN="{align}" WIDTH="{width}" COLSPAN="{span}">{content}</TD>'


def _font(text: str, colour: str, size: int) -> str:
    return f'<FONT COLOR="{colour}" POINT-SIZE="{size}">{_font_text(text)}</FONT>'


def _font_text(text: str) -> str:
    # Graphviz refuses an empty element and drops leading spaces.
    return markup(text) or " "


def _width(text: str, size: int) -> int:
    return round(columns(text) * _WIDTH_OF_COLUMN * size) + 2


def _classes(look: str, mark: Mark, side: Side, *, is_compare: bool) -> str:
    parts = [look]
    if mark != "unchanged":
        parts.append(mark)
    if is_compare:
        parts.append(side)
    return " ".join(parts)


def _edge(edge: DrawEdge, number: int, names: dict[str, str], boxes: dict[str, str], *, is_compare: bool) -> str:
    attributes = {"class": _classes(edge.kind, edge.mark, edge.side, is_compare=is_compare), "id": f"e{number}"}
    attributes |= _EDGE_OF_KIND[edge.kind]
    words = " ".join(filter(None, (edge.label, str(edge.count) if edge.count > 1 else "")))
    if words:
        # Graphviz fails on some drawings when it has to place labels inside a rank.
        is_beside = edge.kind == "order" or bool(edge.to_cluster)
        attributes["xlabel" if is_beside else "label"] = f" {words}"
    if edge.kind == "order":
        attributes["fontcolor"] = LIGHT["text3"]
    if edge.mark != "unchanged":
        attributes |= {"color": LIGHT[TOKENS.marks[edge.mark].color], "penwidth": "1.6"}
        if edge.side == "before":
            attributes |= {"style": attributes.get("style", "dashed"), "penwidth": "1.1"}
    if edge.to_cluster:
        attributes |= {"lhead": f"cluster_{boxes[edge.to_cluster]}", "constraint": "false"}
    written = ", ".join(f"{key}={dot_string(value)}" for key, value in attributes.items())
    return f"{names[edge.source]} -> {names[edge.target]} [{written}]"


def _cluster(cluster: DrawCluster, name: str, *, is_compare: bool) -> str:
    classes = _classes(cluster.kind, cluster.mark, cluster.side, is_compare=is_compare)
    if cluster.kind == "region":
        return f'class="{classes}{" open" if cluster.is_open else ""}"; id="{name}"; {region_attributes(cluster)}'
    line, fill, text = LIGHT["line2"], LIGHT["bg"], LIGHT["text"]
    style = "rounded"
    label = f"<B>{markup(cut(cluster.label, NAME_COLUMNS)) or ' '}</B>"
    size, margin = 10, 12
    if cluster.kind == "group":
        fill, text, size = LIGHT["canvas"], LIGHT["text2"], 9
    elif cluster.kind not in ("function", "local"):
        style, fill, text, size, margin = "rounded,dashed", LIGHT["canvas"], LIGHT["text3"], 9, 9
        label = markup(cut(cluster.label, NAME_COLUMNS)) or " "
    if cluster.mark != "unchanged":
        look = TOKENS.marks[cluster.mark]
        line = text = LIGHT[look.color]
        fill = LIGHT[look.fill]
        label = f"{look.sign} {label}"
        style = "rounded,dashed" if cluster.side == "before" else style
    return (
        f'class="{classes}"; id="{name}"; style="{style}"; color="{line}"; bgcolor="{fill}"; '
        f'label=<{label}>; fontcolor="{text}"; fontsize={size}; margin={margin}'
    )


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
