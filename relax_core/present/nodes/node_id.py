"""Node ids that outlive the process: stage, function and preorder number."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from relax_core.ir.expr import MatchCast, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.relay import Let


class NodeId(msgspec.Struct, frozen=True):
    """Node number `preorder` of `function` in the module after `stage` passes (0: the source); as text `2/main/17`."""

    stage: int
    function: str
    preorder: int

    def __str__(self) -> str:
        return f"{self.stage}/{self.function}/{self.preorder}"

    @staticmethod
    def parse(text: str) -> "NodeId | None":
        """Read the text of an id; None if it is not one."""
        stage, _, rest = text.partition("/")
        function, _, number = rest.rpartition("/")
        if not (stage.isdecimal() and number.isdecimal() and function and len(stage) + len(number) < 20):
            return None
        return NodeId(int(stage), function, int(number))


@dataclass(frozen=True, slots=True, eq=False)
class NodeIndex:
    """The ids of the nodes of one module.

    A node that occurs in several functions has its id in the first one. A binding, its variable and its value share the
    id of the binding. A Relay `let` shares its id with its variable only; its value is a node of its own.
    """

    stage: int
    module: IRModule
    place_of: Mapping[Node, int]
    """Counted through all functions, of which the first begin at `starts`: for long programs a number takes least."""
    nodes_of: Mapping[str, tuple[Node, ...]]
    starts: tuple[int, ...]

    def id_of(self, node: Node | None) -> str:
        """Return the id of `node` as text, empty for a node of another module."""
        if node is None or node not in self.place_of:
            return ""
        return str(NodeId(self.stage, *self._number(node)))

    def node_at(self, id_: NodeId) -> Node | None:
        """Return the node that `id_` names."""
        nodes = self.nodes_of.get(id_.function, ())
        return nodes[id_.preorder] if id_.preorder < len(nodes) else None

    def node_of(self, node: Node) -> Node:
        """Return the node that stands for `node`: the binding for its variable and its value, else `node` itself."""
        function, number = self._number(node)
        return self.nodes_of[function][number]

    def function_of(self, node: Node) -> str:
        """Return the name of the function that `node` is in."""
        return self._number(node)[0]

    def _number(self, node: Node) -> tuple[str, int]:
        """Return the function that a node is in, and its number there."""
        place = self.place_of[node]
        function = bisect_right(self.starts, place) - 1
        return self.module.definitions[function].var.name, place - self.starts[function]


def index_nodes(module: IRModule, stage: int) -> NodeIndex:
    """Number the nodes of every function of `module`, in preorder from 0, the function itself."""
    place_of: dict[Node, int] = {}
    nodes_of: dict[str, tuple[Node, ...]] = {}
    starts: list[int] = []
    count = 0
    for definition in module:
        starts.append(count)
        nodes = nodes_of[definition.var.name] = tuple(preorder(definition.function))
        for place, node in enumerate(nodes, count):
            place_of.setdefault(node, place)
            if isinstance(node, VarBinding | MatchCast | Let):
                place_of.setdefault(node.var, place)
            if isinstance(node, VarBinding | MatchCast):
                place_of.setdefault(node.value, place)
        count += len(nodes)
    return NodeIndex(stage, module, place_of, nodes_of, tuple(starts))
