"""Calls of external functions: the target on the other side, and the bytes that cross."""

from dataclasses import dataclass

from relax_core.bytecode.executable import FunctionEntry
from relax_core.diagnostics import plural
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Function, TupleType, Var
from relax_core.passes.external import DESTINATION_COUNT
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
    if not isinstance(function, Function):
        return None
    target = attr(function.attrs, "Compiler") or attr(function.attrs, "Codegen")
    if not isinstance(target, str):
        return None
    count = attr(function.attrs, DESTINATION_COUNT)
    given = function.params if not isinstance(count, int) else function.params[: len(function.params) - count]
    written = function.params[len(given) :]
    result = _types(written) if written else function.ret_type
    return Boundary(target, len(given), size_bytes(_types(given)), size_bytes(result))


def _types(params: tuple[Var, ...]) -> TupleType | None:
    """Return the types of parameters, `None` if one is not declared."""
    types = tuple(item for param in params if (item := param.annotation) is not None)
    return TupleType(types) if len(types) == len(params) else None
