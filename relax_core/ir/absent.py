"""What stands in a module for a value that its text does not hold.

A program with such a place is read, shown and printed; the checks refuse it, so that nothing computes with it.
"""

from weakref import WeakKeyDictionary

from relax_core.ir.expr import Call, Constant, Op, PrimValue, Type, VarBinding
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
            return _ABSENT.get(node)
        case _:
            return None


class _Absent:
    """Relay's constants without data, with the references that they stand for, while they live.

    Relay text gives such a constant a type in a comment; zeros of that type stand for it, so that the rest is typed.
    """

    def __init__(self) -> None:
        self._reference_of: WeakKeyDictionary[Node, str] = WeakKeyDictionary()

    def note(self, constant: Constant, reference: str) -> None:
        self._reference_of[constant] = reference

    def get(self, constant: Constant) -> str | None:
        return self._reference_of.get(constant) if self._reference_of else None


_ABSENT = _Absent()


def note_absent(constant: Constant, reference: str) -> Constant:
    """Take note that `constant` stands for data that the text lacks, and return it."""
    _ABSENT.note(constant, reference)
    return constant
