"""IR nodes: what making, replacing and visiting them costs beside plain slotted objects."""

from dataclasses import dataclass, replace

from benchmarks.table import Table
from benchmarks.timing import measure
from relax_core.ir.expr import Tuple, Var
from relax_core.ir.node import map_children, postorder

COUNT = 1000


@dataclass(slots=True)
class Plain:
    """The same fields as a variable, but mutable."""

    name: str
    annotation: None = None
    span: None = None


def run() -> Table:
    """Measure each operation on `COUNT` variables; the traversals find them under one tuple."""
    names = tuple(f"x{index}" for index in range(COUNT))
    variables = tuple(Var(name) for name in names)
    root = Tuple(variables)
    cases = {
        "make plain objects": lambda: [Plain(name) for name in names],
        "make variables": lambda: [Var(name) for name in names],
        "replace a field": lambda: [replace(variable, name="y") for variable in variables],
        "map_children, nothing changed": lambda: map_children(root, lambda child: child),
        "postorder": lambda: list(postorder(root)),
    }
    return Table(f"IR nodes ({COUNT} variables)", measure(cases))
