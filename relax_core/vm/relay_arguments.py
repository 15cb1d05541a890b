"""What the host gives to a function of Relay, held against the types that its parameters declare."""

import numpy as np

from relax_core.ir.expr import TensorType, TupleType, Type, Var
from relax_core.ir.prim import IntImm
from relax_core.printer.relay_text.types import relay_type
from relax_core.vm.context import fail
from relax_core.vm.values import Value, describe, dtype_name


def check_argument(param: Var, value: Value, entry: str) -> None:
    """Check the tensors and tuples of an argument; what `?` and type variables stand for is left open.

    Raises:
        RunError: VM011 for another kind, rank or dtype, VM012 for another size.
    """
    waiting: list[tuple[Type, Value]] = [] if param.annotation is None else [(param.annotation, value)]
    while waiting:
        type_, part = waiting.pop()
        code = _refusal(type_, part)
        if code:
            field = "" if part is value else "a field of "
            wanted = relay_type(type_, lambda variable: variable.name)
            fail(code, f"{field}%{param.name} of @{entry} must be {wanted}, got {describe(part)}", span=param.span)
        if isinstance(type_, TupleType) and isinstance(part, tuple):
            waiting.extend(zip(type_.fields, part, strict=True))


def _refusal(type_: Type, value: Value) -> str:
    """Return the code of what is wrong with `value`, empty if nothing is."""
    match type_:
        case TupleType(fields=fields):
            # The void value is the tuple of none.
            given = () if value is None else value
            return "" if isinstance(given, tuple) and len(given) == len(fields) else "VM011"
        case TensorType(dtype=str(dtype)) if type_.dims is not None:
            dims = type_.dims
            if not isinstance(value, np.ndarray) or dtype_name(value) != dtype or value.ndim != len(dims):
                return "VM011"
            pairs = zip(dims, value.shape, strict=True)
            return "VM012" if any(isinstance(dim, IntImm) and dim.value != size for dim, size in pairs) else ""
        case _:
            return ""
