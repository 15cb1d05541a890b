"""Conditions on sizes that a type rule leaves open, such as `m` = `k` in a product of (n, m) and (k, p).

A prim func has no place for such a condition: it would compute with sizes that do not fit, and read a part of a tensor.
A call that has one stays an operator, whose type rule the machine applies to the sizes of the run.
"""

from collections.abc import Iterator, Mapping

from relax_core.ir.expr import Call, Constant, TensorType, Type, Var
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.rewriting.substitute import free_symbols, map_type, replace_symbols, substitute
from relax_core.ops.spec import OpSpec, OpTypeError

_FIRST = 1009
"""Larger than the sizes of windows and steps, so that what fits for large sizes is not refused."""


def depends_on_sizes(spec: OpSpec, call: Call, arg_types: tuple[Type, ...]) -> bool:
    """Tell whether the type rule of an operator, which accepts `call`, refuses it for some values of its symbols.

    It is asked for one choice of sizes, a prime of its own for each symbol. A condition that is a polynomial in the
    symbols and holds there holds for all of them, but for an accident that such sizes make unlikely.
    """
    symbols = dict.fromkeys(part for type_ in arg_types if not _is_static(type_) for part in free_symbols(type_))
    # What a variable or a constant has of symbols is in its type.
    written = (arg for arg in call.args if not isinstance(arg, Var | Constant))
    symbols |= dict.fromkeys(part for arg in written for part in free_symbols(arg))
    sizes: Mapping[PrimVar, PrimExpr] = {
        symbol: IntImm(prime, symbol.dtype)
        for symbol, prime in zip((item for item in symbols if item.dtype.startswith("int")), _primes(), strict=False)
    }
    if not sizes:
        return False

    def of_run(expr: PrimExpr) -> PrimExpr:
        return replace_symbols(expr, sizes)

    try:
        spec.infer(substitute(call, symbols=sizes), tuple(map_type(item, of_run) for item in arg_types))
    except OpTypeError:
        return True
    return False


def _is_static(type_: Type) -> bool:
    """Tell of most types at once that they hold no symbol."""
    return (
        isinstance(type_, TensorType)
        and isinstance(type_.shape, tuple)
        and all(isinstance(dim, IntImm) for dim in type_.shape)
    )


def _primes() -> Iterator[int]:
    """Yield primes from the first one on."""
    number = _FIRST
    while True:
        if all(number % factor for factor in range(3, int(number**0.5) + 1, 2)):
            yield number
        number += 2
