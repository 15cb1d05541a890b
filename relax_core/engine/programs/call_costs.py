"""What a call of a function costs, with sizes of symbolic dimensions by name."""

from collections.abc import Mapping

from relax_core.analysis.cost import costs
from relax_core.analysis.cost.costs import Costs
from relax_core.engine.inputs import symbol_sizes
from relax_core.ir.module import IRModule


def costs_of(module: IRModule, entry: str = "main", sizes: Mapping[str, int] | None = None) -> Costs:
    """Count what one call of a Relax function costs, without running it.

    That is: operations on values, bytes that operators and kernels read and write, launches, kernels, and the bytes of
    results and storages that are held at once. Symbolic dimensions have the `sizes` of their names, small ones by
    default. `unknown` names what is not counted, and `lower_bounds` the figures that it is part of.

    Raises:
        KeyError: the module has no Relax function `entry`.
    """
    function = {var.name: item for var, item in module.relax_functions}[entry]
    return costs.costs_of(module, entry, symbol_sizes(function, {} if sizes is None else sizes))
