"""Calls of external functions: the target on the other side, and the bytes that cross."""

from dataclasses import dataclass

from relax_core.bytecode.executable import FunctionEntry
from relax_core.diagnostics import plural
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Function, TupleType
from relax_core.present.measures import bytes_text
from relax_core.present.regions.flow_sizes import size_bytes


@dataclass(frozen=True, slots=True)
class Boundary:
    """The values that cross to another target in a call of an external function.

    `None` for sizes known only at run time.
    """

    target: str
    argument_count: int
    input_bytes: int | None
    output_bytes: int | None

    @property
    def words(self) -> str:
        """Such as `across the boundary to dnnl: 3 arguments, 1.6 kB in, 1.0 kB out`."""
        sizes = ((self.input_bytes, "in"), (self.output_bytes, "out"))
        shown = (f"{bytes_text(size)} {way}" for size, way in sizes if size is not None)
        return ", ".join((f"across the boundary to {self.target}: {plural(self.argument_count, 'argument')}", *shown))


def boundary_of(callee: FunctionEntry) -> Boundary | None:
    """Return the boundary that a call of `callee` crosses, `None` for a function of the module's own target."""
    function = callee.node
    target = attr(function.attrs, "Compiler") if isinstance(function, Function) else None
    if not isinstance(function, Function) or not isinstance(target, str):
        return None
    inputs = TupleType(tuple(item for param in function.params if (item := param.annotation) is not None))
    is_known = len(inputs.fields) == len(function.params)
    return Boundary(
        target, len(function.params), size_bytes(inputs) if is_known else None, size_bytes(function.ret_type)
    )
