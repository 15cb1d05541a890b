"""A kernel for readers: LLVM IR before and after optimisation and machine code, each line led back to its statement."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.debug_lines import Origin, PlacedLine, placed_assembly, placed_ir
from relax_core.jit.compilation.target import Target
from relax_core.jit.lowering.checks import Locate
from relax_core.jit.lowering.known.ranges import AccessFact, access_report
from relax_core.jit.lowering.lower import NO_FUNCTIONS, lower
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions
from relax_core.jit.remarks import KernelRemark

_VERDICT = "loop not vectorized"
_WRITTEN = f"{_VERDICT}: vectorization is explicitly disabled"
_ADVICE = re.compile(r"\. Use #pragma [^.]*")


@dataclass(frozen=True, slots=True)
class VectoriserRemark:
    """What LLVM's loop vectoriser says of the code that stems from `place`."""

    place: int
    text: str

    @property
    def is_applied(self) -> bool:
        """Tell whether a loop was vectorised."""
        return self.text.startswith("vectorized loop")


@dataclass(frozen=True, slots=True)
class KernelViews:
    """A kernel's code in three forms.

    A line's place is an index into `places`; `checked` are the
    accesses that are compared at run time with these sizes, `facts` what holds of all accesses for any size.
    `seconds` is the time to compile, from lowering to machine code. `without` are the transformations that were
    switched off.
    """

    places: tuple[Origin, ...]
    lowered: tuple[PlacedLine, ...]
    optimised: tuple[PlacedLine, ...]
    assembly: tuple[PlacedLine, ...]
    remarks: tuple[KernelRemark, ...]
    vectoriser: tuple[VectoriserRemark, ...]
    facts: tuple[AccessFact, ...]
    checked: frozenset[Node]
    seconds: float
    without: tuple[str, ...] = ()


def kernel_views(
    target: Target,
    function: PrimFunc,
    sizes: Mapping[PrimVar, int] | None,
    locate: Locate,
    *,
    options: KernelOptions = DEFAULT_OPTIONS,
    functions: Mapping[str, PrimFunc] = NO_FUNCTIONS,
) -> KernelViews:
    """Compile `function` for reading, for the values `sizes` of its symbols or for any.

    Raises:
        CompileError: it cannot be compiled.
    """
    start = perf_counter()
    plain = lower(function, sizes, locate, functions, options, are_distinct=True)
    target.assembly(plain.text, plain.pipeline)
    seconds = perf_counter() - start
    marked = lower(function, sizes, locate, functions, options, are_distinct=True, has_origins=True)
    optimised, said = target.explained_ir(marked.text, marked.pipeline)
    return KernelViews(
        marked.places,
        placed_ir(marked.text),
        placed_ir(optimised),
        placed_assembly(target.assembly(marked.text, marked.pipeline)),
        marked.remarks,
        _vectoriser_remarks(said),
        access_report(function),
        frozenset(marked.checked),
        seconds,
        options.without,
    )


def _vectoriser_remarks(said: Sequence[tuple[int, str]]) -> tuple[VectoriserRemark, ...]:
    """Leave out advice to writers of C, loops that are written in vectors, and a bare verdict beside a reason."""
    found = [VectoriserRemark(line - 1, _ADVICE.sub("", text)) for line, text in said if line > 0 and text != _WRITTEN]
    has_reason = any(item.text.startswith(f"{_VERDICT}:") for item in found)
    return tuple(dict.fromkeys(item for item in found if not (has_reason and item.text == _VERDICT)))
