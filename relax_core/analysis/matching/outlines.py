"""The parts of every function of a module."""

from relax_core.analysis.matching.parts import Outline
from relax_core.analysis.matching.relax_parts import outline_of_function
from relax_core.analysis.matching.tir_parts import outline_of_prim_func
from relax_core.ir.module import Definition
from relax_core.ir.tir import PrimFunc


def outline_of(definition: Definition) -> Outline:
    """Return the parts of a function of a module."""
    is_prim = isinstance(definition.function, PrimFunc)
    return outline_of_prim_func(definition) if is_prim else outline_of_function(definition)
