"""Prim funcs as drawings: buffers, the statements that read and write them, and the loops around these."""

from msgspec.structs import replace

from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    PrimFunc,
    Stmt,
    While,
)
from relax_core.present.drawings.drawing import DrawCluster, DrawEdge, Drawing, DrawNode, Look
from relax_core.present.drawings.flow import GraphContext
from relax_core.present.words import dims_text, dtype_text, prim_text

_SEGMENT = 100


def draw_prim_func(name: str, function: PrimFunc, facts: GraphContext) -> Drawing:
    """Draw one prim func: a pill per buffer, a node per stored element, boxes for loops and blocks."""
    flow = _TirFlow(name, facts)
    for param in function.params:
        buffer = function.buffer_of(param)
        if buffer is None:
            flow.add(param, "param", param.name, dtype_text(param.dtype), "", (param,))
        else:
            flow.buffer(buffer)
    flow.statements(function.body)
    return flow.drawing(f"@{name}")


class _TirFlow:
    """Collects statements and the buffers that they touch."""

    def __init__(self, function: str, facts: GraphContext) -> None:
        self._function = function
        self._facts = facts
        self._nodes: list[DrawNode] = []
        self._edges: dict[tuple[str, str, str], int] = {}
        self._clusters: list[DrawCluster] = []
        self._key_of: dict[Node, str] = {}
        self._store_count = 0

    def drawing(self, title: str) -> Drawing:
        """Return what was collected."""
        edges = tuple(DrawEdge(a, b, "value", label, count) for (a, b, label), count in self._edges.items())
        return Drawing(title, tuple(self._nodes), edges, tuple(self._clusters))

    def add(self, where: Node, look: Look, title: str, sub: str, cluster: str, ir: tuple[Node, ...]) -> str:
        """Add a node and return its key."""
        key = f"{self._function}:{len(self._nodes)}"
        facts = self._facts
        node = DrawNode(key, look, title, sub, cluster=cluster, ir=ir, function=self._function)
        node = replace(node, node=facts.index.id_of(where), line=facts.line_of(where))
        if look == "statement":
            start = self._store_count - self._store_count % _SEGMENT
            node = replace(node, group=(f"{self._function}/statements {start + 1} to {start + _SEGMENT}",))
            self._store_count += 1
        self._nodes.append(node)
        self._key_of.update(dict.fromkeys(ir, key))
        return key

    def buffer(self, buffer: Buffer) -> str:
        """Return the key of a buffer's node, which is drawn when it is first seen."""
        key = self._key_of.get(buffer)
        if key is None:
            words = f"{dims_text(buffer.shape)} {dtype_text(buffer.dtype)}"
            key = self.add(buffer, "param", buffer.name, words, "", (buffer,))
        return key

    def statements(self, body: Stmt) -> None:
        """Draw the statements below `body` in order, with an explicit stack."""
        stack: list[tuple[Stmt, str]] = [(body, "")]
        while stack:
            stmt, cluster = stack.pop()
            inner = self._box(stmt, cluster)
            match stmt:
                case BufferStore(buffer=buffer, indices=indices, value=value):
                    title = f"{buffer.name}[{', '.join(map(prim_text, indices))}]"
                    key = self.add(stmt, "statement", title, f"= {prim_text(value)}", cluster, (stmt,))
                    self._reads(key, stmt)
                    self._edge(key, self.buffer(buffer), "")
                case Evaluate(value=Intrinsic() as value):
                    key = self.add(stmt, "statement", value.name, prim_text(value), cluster, (stmt,))
                    self._reads(key, stmt)
                case _:
                    below = [child for child in children(stmt) if isinstance(child, Stmt)]
                    stack.extend((child, inner) for child in reversed(below))

    def _box(self, stmt: Stmt, cluster: str) -> str:
        """Return the cluster of the statements inside `stmt`; nested loops share one box."""
        match stmt:
            case For(var=var, extent=extent):
                words = f"for {var.name} < {prim_text(extent)}"
                outer = self._clusters[-1] if self._clusters else None
                if outer is not None and outer.key == cluster and outer.kind == "loop" and self._is_empty(cluster):
                    self._clusters[-1] = replace(outer, label=f"{outer.label}, {words.removeprefix('for ')}")
                    return cluster
            case While(condition=condition):
                words = f"while {prim_text(condition)}"
            case IfThenElse(condition=condition):
                words = f"if {prim_text(condition)}"
            case Block(name=name) if name:
                words = f"block {name}"
            case _:
                return cluster
        key = f"{cluster}/{len(self._clusters)}"
        kind = "loop" if isinstance(stmt, For) else "branch"
        self._clusters.append(DrawCluster(key, kind, words, cluster))
        return key

    def _is_empty(self, cluster: str) -> bool:
        return not any(item.cluster == cluster for item in self._nodes)

    def _reads(self, key: str, stmt: Stmt) -> None:
        for node in preorder(stmt):
            if isinstance(node, BufferLoad):
                self._edge(self.buffer(node.buffer), key, "")

    def _edge(self, source: str, target: str, label: str) -> None:
        key = (source, target, label)
        self._edges[key] = self._edges.get(key, 0) + 1
