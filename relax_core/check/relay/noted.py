"""Whether the types in the comments of a Relay text are those of the program."""

from collections.abc import Iterator, Mapping

from relax_core.check.infer import infer
from relax_core.check.relay.context import UNKNOWN
from relax_core.check.relay.solver import ClashError, Solver
from relax_core.diagnostics import Diagnostic
from relax_core.ir.expr import Op, Type
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ops.relay.show import show_type


def disagreements(module: IRModule, noted: Mapping[Node, Type]) -> Iterator[Diagnostic]:
    """Yield a note for each comment `/* ty=... */` whose type cannot be the one inferred.

    A size that one of them leaves open agrees with any. Complexity: linear.
    """
    types = infer(module).types
    for node in preorder(module):
        said, found = noted.get(node), types.get(node, UNKNOWN)
        if said is None or found is UNKNOWN or isinstance(node, Op):
            continue
        try:
            Solver().unify(said, found)
        except ClashError as clash:
            words = f": {clash.words}" if clash.words else ""
            message = f"the comment says {show_type(said)}, and the program gives {show_type(found)}{words}"
            yield Diagnostic("RY033", message, node.span, "the text may have been edited after it was printed", "note")
