"""The boxes of compiler regions in a drawing of Relay: a cluster each, with its label, and a port per annotation."""

from dataclasses import replace

from relax_core.analysis.regions import DEFAULT, Region, Regions, find_regions
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.present.drawing import DrawCluster, DrawNode
from relax_core.present.target_marks import category_of, external_target, symbol_of, targets_in


class RegionBoxes:
    """The regions of a function that is being drawn.

    A region of the target `default` has no box: what it holds is marked as going to no target.
    """

    def __init__(self, module: IRModule) -> None:
        self.clusters: list[DrawCluster] = []
        self.labels: list[DrawNode] = []
        self._module = module
        self._targets = targets_in(module)
        self._regions = Regions(())

    def enter(self, function: Function) -> None:
        """Find the regions of the function that is drawn next."""
        self._regions = find_regions(function)

    def region_of(self, node: Node) -> Region | None:
        """Return the region that holds a node."""
        return self._regions.of.get(node)

    def is_shown(self, region: Region) -> bool:
        """Tell whether a region has a box."""
        return region.target != DEFAULT or region.is_open

    def box(self, region: Region, outer: str, function: str, group: str) -> str:
        """Return the key of a region's cluster inside `outer`, which is made on the first call."""
        key = f"{outer}/{function}/{region.target} {region.number}"
        if all(item.key != key for item in self.clusters):
            category = category_of(region.target, self._targets)
            title = f"{symbol_of(region.target, self._targets)} {region.target}"
            words = f"region {region.number}" + (", never ends" if region.is_open else "")
            is_open = region.is_open
            self.clusters.append(DrawCluster(key, "region", region.target, outer, category=category, is_open=is_open))
            label = DrawNode(f"{key}:label", "region", title, words, cluster=key, group=group, function=function)
            self.labels.append(replace(label, category=category, count=0))
        return key

    def category(self, node: Node) -> str:
        """Return the category of a node: its region's target, or that of the external function it calls."""
        region = self.region_of(node)
        if region is not None:
            return category_of(region.target, self._targets)
        return category_of(name, self._targets) if (name := self.target_called(node)) else ""

    def target_called(self, node: Node) -> str:
        """Return the target whose function `node` calls, empty if it calls none."""
        if isinstance(node, Call) and isinstance(node.op, GlobalVar):
            return external_target(self._module, node.op.name)
        return ""


def composite_words(function: Function) -> tuple[str, str]:
    """Return target and title of a composite: `dnnl`, `conv2d_relu`; without a dot in its name what it does."""
    name = str(attr(function.attrs, "Composite") or "fn")
    target, _, what = name.partition(".")
    return (target, what) if what else (name, _action(function.body))


def _action(body: Expr) -> str:
    operators = [node.op.name for node in postorder(body) if isinstance(node, Call) and isinstance(node.op, Op)]
    if operators:
        return " + ".join(operators)
    count = len(body.args) if isinstance(body, Call) and isinstance(body.op, Var) else 0
    return f"call · {count} arg{'' if count == 1 else 's'}"
