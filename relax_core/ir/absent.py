"""What stands in a module for a value that its text does not hold.

A program with such a place is read, shown and printed. The checks refuse it, so that nothing computes with it; of the
passes, only those that never look at the elements of a constant accept it.
"""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from relax_core.ir.expr import Call, Constant, Op, PrimValue, TensorType, Type, VarBinding
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, StringImm
from relax_core.source import Span

NO_VALUE = "relax.no_value"
"""The value of a variable that is declared without one: `storage: R.Any`."""
NO_DATA = "relax.metadata"
"""A reference into a table of metadata that the text lacks: `metadata["relax.expr.Constant"][0]`."""


def no_value(type_: Type, span: Span | None) -> Call:
    """Make what stands for a value of `type_` that nothing gives."""
    return Call(Op(NO_VALUE), (), type_args=(type_,), span=span)


def no_data(kind: str, index: int, type_: Type, span: Span | None) -> Call:
    """Make what stands for the entry `index` of the table `kind`, which the text does not hold."""
    return Call(Op(NO_DATA), (PrimValue(StringImm(kind)), PrimValue(IntImm(index))), type_args=(type_,), span=span)


def is_declared_only(binding: Node) -> bool:
    """Tell whether a binding only declares its variable."""
    match binding:
        case VarBinding(value=Call(op=Op(name=name))):
            return name == NO_VALUE
        case _:
            return False


def reference_of(node: Node) -> str | None:
    """Return the reference that `node` stands for as the text writes it; `None` for anything else."""
    match node:
        case Call(
            op=Op(name=name),
            args=(PrimValue(value=StringImm(value=kind)), PrimValue(value=IntImm(value=index))),
        ) if name == NO_DATA:
            return f'metadata["{kind}"][{index}]'
        case Constant():
            absent = _ABSENT.get(node)
            return None if absent is None else absent.reference
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Absent:
    """What is known of a constant of Relay without data: the reference that stands for it, and its type, if any."""

    reference: str
    type: Type | None


class _AbsentConstants:
    """The constants of Relay without data, while they live.

    Each holds zeros in the shape of its type, which take no memory, so that whoever asks for shape and dtype has them.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Node, Absent] = WeakKeyDictionary()

    def make(self, absent: Absent, span: Span | None) -> Constant:
        made = Constant(_zeros(absent.type), span=span)
        self._known[made] = absent
        return made

    def get(self, constant: Constant) -> Absent | None:
        return self._known.get(constant) if self._known else None


_ABSENT = _AbsentConstants()


def absent_constant(reference: str, type_: Type | None, span: Span | None) -> Constant:
    """Make a constant of Relay whose data the text lacks; `type_` is what a comment says of it."""
    return _ABSENT.make(Absent(reference, type_), span)


def absence_of(constant: Constant) -> Absent | None:
    """Return what is known of a constant without data; `None` if it has data."""
    return _ABSENT.get(constant)


def has_data(constant: Constant) -> bool:
    """Tell whether the elements of `constant` are known."""
    return _ABSENT.get(constant) is None


def _zeros(type_: Type | None) -> npt.NDArray[Any]:
    match type_:
        case TensorType(dims=tuple() as dims, dtype=str() as dtype):
            sizes = tuple([dim.value for dim in dims if isinstance(dim, IntImm)])
            try:
                return np.broadcast_to(np.zeros((), dtype), sizes if len(sizes) == len(dims) else ())
            except (TypeError, ValueError):
                # A dtype or a shape that NumPy lacks: whoever needs it asks for the type.
                return np.zeros((), np.float32)
        case _:
            return np.zeros((), np.float32)
