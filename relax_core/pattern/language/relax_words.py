"""The words of Relax's pattern language that Relay's does not have.

See: tvm/python/tvm/relax/dpl/pattern.py
"""

from collections.abc import Sequence
from typing import Literal, overload

from relax_core.pattern.language.nodes import (
    CallPattern,
    DataflowVarPattern,
    ExternFuncPattern,
    GlobalVarPattern,
    NotPattern,
    Pattern,
    PrimArrPattern,
    Size,
    TuplePattern,
    UnorderedTuplePattern,
    is_op,
    is_tuple,
    wildcard,
)

Inputs = Sequence[Pattern] | Pattern | None


def is_dfv(name: str = "") -> DataflowVarPattern:
    """Match a variable that only its dataflow block sees, by its name if one is given."""
    return DataflowVarPattern(name)


def is_gv(name: str = "") -> GlobalVarPattern:
    """Match a function of the module, by its name if one is given."""
    return GlobalVarPattern(name)


def is_extern(name: str = "") -> ExternFuncPattern:
    """Match a packed function, by its name if one is given; called, a call of it."""
    return ExternFuncPattern(name)


def is_shape(sizes: Sequence[Size]) -> PrimArrPattern:
    """Match a shape as a value, such as that of `R.reshape`; `None` takes any size."""
    return PrimArrPattern(tuple(sizes))


def reject(pattern: Pattern) -> NotPattern:
    """Match what `pattern` does not; written `~pattern`, too."""
    return NotPattern(pattern)


@overload
def is_relax_tuple(fields: Sequence[Pattern] | None = None, *, unordered: Literal[False] = False) -> TuplePattern: ...
@overload
def is_relax_tuple(
    fields: Sequence[Pattern] | None = None, *, unordered: bool
) -> TuplePattern | UnorderedTuplePattern: ...
def is_relax_tuple(
    fields: Sequence[Pattern] | None = None, *, unordered: bool = False
) -> TuplePattern | UnorderedTuplePattern:
    """Match a tuple; if `unordered` each of its fields one of `fields`, in any order."""
    if fields is None or not unordered:
        return is_tuple(None if fields is None else tuple(fields))
    return UnorderedTuplePattern(tuple(fields))


def is_call_tir(name: str, args: Inputs = None) -> CallPattern:
    """Match `R.call_tir` of the prim func `name`; `args` are its inputs, or what matches their tuple."""
    return _of_function("relax.call_tir", GlobalVarPattern(name), args)


def is_call_dps_packed(name: str, args: Inputs = None) -> CallPattern:
    """Match `R.call_dps_packed` of `name`; `args` are its inputs, or what matches their tuple."""
    return _of_function("relax.call_dps_packed", ExternFuncPattern(name), args)


def is_call_packed(name: str, args: Sequence[Pattern] | None = None) -> CallPattern:
    """Match `R.call_packed` of `name`, with these arguments or with any."""
    function = ExternFuncPattern(name)
    return function.any_args() if args is None else function(*args)


def _of_function(op: str, function: Pattern, args: Inputs) -> CallPattern:
    given = wildcard() if args is None else args if isinstance(args, Pattern) else is_tuple(tuple(args))
    # There is no edge to an argument that is no variable: inputs stand in the call as a tuple.
    return is_op(op)(function, given, add_constraint=False)


def make_fused_bias_activation_pattern(
    op_name: str, *, with_bias: bool = False, activation: str | None = None, allow_reshape: bool = False
) -> CallPattern:
    """Match a call of `op_name` on two arguments, then the sum with a bias, then an activation.

    With `allow_reshape` the bias is reshaped before, as PyTorch's front end has it.
    """
    made = is_op(op_name)(wildcard(), wildcard())
    if with_bias and allow_reshape:
        bias = is_op("relax.reshape")(wildcard(), wildcard(), varg_default_wildcard=True)
        made = is_op("relax.add")(made, bias, varg_default_wildcard=True)
    elif with_bias:
        made = is_op("relax.add")(made, wildcard())
    return is_op(activation)(made) if activation else made
