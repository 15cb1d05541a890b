"""How LLVM optimises a kernel: as much as is left to do in its loops.

Measured on the kernels of `benchmarks.performance`, each pipeline makes code as fast as "loops" does of the kernels
that it is for, and compiles them in less time.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Final, Literal

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import IntImm
from relax_core.ir.tir import Block

Pipeline = Literal["written", "even", "lanes", "loops", "large", "brief"]
Form = Literal["written", "even", "around", "plain"]
"""What LLVM finds of a loop: vectors, a long loop over elements side by side, only loops inside, or anything."""


@dataclass(frozen=True, slots=True)
class Passes:
    """What a pipeline runs: the passes `names` alone, or LLVM's own with its vectoriser of loops if there are none.

    That `unrolls` loops, or joins the lanes of a vector, which are scalars in the text, if it `joins_lanes`. One that
    `is_quick` makes machine code in a time that is proportional to the text.
    """

    summary: str
    names: tuple[str, ...] = ()
    unrolls: bool = False
    joins_lanes: bool = False
    is_quick: bool = False


PIPELINES: Final[Mapping[Pipeline, Passes]] = MappingProxyType(
    {
        "written": Passes(
            "The loops are written in vectors: their registers are to be found, and no more.",
            ("always_inliner", "sroa", "instruction_combine", "loop_rotate", "simplify_cfg"),
        ),
        "even": Passes("Long loops over elements that lie side by side: vectors of them are enough."),
        "lanes": Passes("The program has vectors.", unrolls=True, joins_lanes=True),
        "loops": Passes("Loops as the program has them.", unrolls=True),
        "large": Passes(
            "The kernel is so long that anything else would take minutes.", ("sroa", "simplify_cfg"), is_quick=True
        ),
        "brief": Passes(
            "The kernel runs so briefly that anything else would take longer than it.",
            ("sroa", "simplify_cfg"),
            is_quick=True,
        ),
    }
)

# What the transformations make of a loop; what those make that are not named here may be anything.
_FORM_OF: Final[Mapping[str, Form]] = MappingProxyType(
    {
        **dict.fromkeys(("tile", "columns", "rows", "transpose", "copy", "gather"), "written"),
        **dict.fromkeys(("collapse", "tile_any", "rows_any", "columns_any"), "even"),
        **dict.fromkeys(("split", "split_any", "hoist", "accumulate", "guard", "fuse", "parallel"), "around"),
    }
)
_SHORTEST_SUM: Final = 32
# LLVM's passes and its allocation of registers take more than twice as long for text of twice the length: seconds for
# so many lines, minutes for some times as many.
_LARGE_LINES: Final = 8192
# A loop of fewer rounds may be written out, which makes one loop of two; one round is no loop.
_LONG: Final = 128


def form_of(rounds: int | None) -> Form:
    """Say what an innermost loop is that is emitted as the program has it, with so many rounds if that is known."""
    if rounds is None or 1 < rounds < _LONG:
        return "plain"
    return "even" if rounds > 1 else "written"


def form_of_tiles(loop: Node) -> Form:
    """Say what a loop is that is cut into tiles: around short sums LLVM has as much to gain as in them."""
    blocks = [item for item in postorder(loop) if isinstance(item, Block)]
    reduced = [item.extent for block in blocks for item in block.iter_vars if item.kind == "reduce"]
    length = prod(extent.value for extent in reduced if isinstance(extent, IntImm))
    return "written" if length >= _SHORTEST_SUM else "plain"


def pipeline_of(transforms: Iterable[str], loops: Set[Form], *, has_vectors: bool, line_count: int = 0) -> Pipeline:
    """Choose for a kernel to which these transformations were applied, and which has such loops besides."""
    if line_count > _LARGE_LINES:
        return "large"
    if has_vectors:
        return "lanes"
    forms = {*loops, *(_FORM_OF.get(name, "plain") for name in transforms)}
    return "loops" if "plain" in forms else "even" if "even" in forms else "written"
