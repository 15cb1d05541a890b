"""Prim funcs that only reshape: element k of the input, counted row by row, is element k of the output.

See: tvm/src/relax/analysis/tir_op_pattern_kind.cc, HasReshapePattern
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

from relax_core.ir.integer.prove import constant_value, prove_equal, simplify
from relax_core.ir.node import Node, map_children, postorder, preorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, Evaluate, IfThenElse, PrimFunc, While


def is_reshape(function: PrimFunc) -> bool:
    """Tell whether it is proven that `function` copies its one input to its one output, element by element in order."""
    if len(function.params) != 2 or len(function.buffers) != 2:
        return False
    source, target = (item.buffer for item in function.buffers)
    stores = [item for item in preorder(function.body) if isinstance(item, BufferStore)]
    blocks = [item for item in preorder(function.body) if isinstance(item, Block) and item.iter_vars]
    if len(stores) != 1 or len(blocks) != 1 or any(isinstance(item, _OTHER) for item in preorder(function.body)):
        return False
    match stores[0]:
        case BufferStore(buffer=written, indices=indices, value=BufferLoad(buffer=read, indices=found)) if (
            written is target and read is source and source.dtype == target.dtype
        ):
            return _is_whole(blocks[0], target, indices) and _in_order(blocks[0], target, indices, source, found)
        case _:
            return False


_OTHER = (While, IfThenElse, Evaluate)


def _is_whole(block: Block, target: Buffer, indices: Sequence[PrimExpr]) -> bool:
    """Tell whether the indices are the variables of the block, each over a whole axis of the output."""
    domain = {item.var: item for item in block.iter_vars}
    if block.predicate is not None or block.init is not None or len(indices) != len(domain):
        return False
    for index, size in zip(indices, target.shape, strict=True):
        item = domain.pop(index, None) if isinstance(index, PrimVar) else None
        if item is None or item.kind != "spatial" or not prove_equal(item.extent, size):
            return False
    return True


def _in_order(
    block: Block, target: Buffer, indices: Sequence[PrimExpr], source: Buffer, found: Sequence[PrimExpr]
) -> bool:
    extents = {item.var: item.extent for item in block.iter_vars}
    # Of as many elements, for a part of them may be in order, too.
    is_as_many = prove_equal(_product(source.shape), _product(target.shape))
    alone: dict[PrimVar, PrimExpr] = {var: const(0) for var, extent in extents.items() if constant_value(extent) == 1}
    numbers = (replace_symbols(_linear(*item), alone) for item in ((indices, target.shape), (found, source.shape)))
    written, read = (_without_remainders(number, extents) for number in numbers)
    return is_as_many and prove_equal(written, read)


def _product(dims: Iterable[PrimExpr]) -> PrimExpr:
    return reduce(lambda a, b: binary("*", a, b), dims, const(1))


def _linear(indices: Sequence[PrimExpr], shape: Sequence[PrimExpr]) -> PrimExpr:
    """Return the number of an element, counted row by row."""
    total: PrimExpr = const(0)
    for index, size in zip(indices, shape, strict=True):
        total = binary("+", binary("*", total, size), index)
    return total


def _without_remainders(expr: PrimExpr, extents: Mapping[PrimVar, PrimExpr]) -> PrimExpr:
    """Write `a % b` as `a - a // b * b`, so that quotients and remainders of one number cancel out.

    A quotient of a quotient is one of the product, and the quotient of a number by more than its maximum is 0.
    """
    memo: dict[Node, PrimExpr] = {}
    for current in postorder(expr):
        made = map_children(current, memo.__getitem__)
        match made:
            case Binary(op="//", a=a, b=b):
                made = _quotient(a, b, extents)
            case Binary(op="%", a=a, b=b):
                made = binary("-", a, binary("*", _quotient(a, b, extents), b))
            case _:
                pass
        assert isinstance(made, PrimExpr), "a scalar expression stays one"
        memo[current] = made
    return memo[expr]


def _quotient(a: PrimExpr, b: PrimExpr, extents: Mapping[PrimVar, PrimExpr]) -> PrimExpr:
    match a:
        case Binary(op="//", a=inner, b=by):
            return _quotient(inner, simplify(binary("*", by, b)), extents)
        case Binary(op="+") if (whole := _multiples(a, b)) is not None:
            # (b * q + r) // b is q + r // b.
            return binary("+", whole[0], _quotient(whole[1], b, extents))
        case _:
            pass
    last = {var: binary("-", extent, const(1)) for var, extent in extents.items()}
    count = simplify(binary("+", replace_symbols(a, last), const(1)))
    number, divisor = constant_value(count), constant_value(b)
    is_less = number is not None and divisor is not None and number <= divisor
    return const(0) if _only_grows(a) and (is_less or prove_equal(count, b)) else binary("//", a, b)


def _multiples(a: PrimExpr, b: PrimExpr) -> tuple[PrimExpr, PrimExpr] | None:
    """Return q and r with `a = b * q + r`: terms of the sum with a constant multiple of `b`, and the rest of them."""
    by = constant_value(b)
    if not isinstance(by, int) or by <= 0:
        return None
    factors: list[PrimExpr] = []
    rest: list[PrimExpr] = []
    for term in _terms(a):
        match term:
            case Binary(op="*", a=factor, b=IntImm(value=number)) if number % by == 0:
                factors.append(binary("*", factor, const(number // by)))
            case _:
                rest.append(term)
    return (_sum(factors), _sum(rest)) if factors else None


def _terms(expr: PrimExpr) -> Iterator[PrimExpr]:
    stack = [expr]
    while stack:
        match stack.pop():
            case Binary(op="+", a=a, b=b):
                stack += (b, a)
            case term:
                yield term


def _sum(terms: Sequence[PrimExpr]) -> PrimExpr:
    return reduce(lambda a, b: binary("+", a, b), terms, const(0))


def _only_grows(expr: PrimExpr) -> bool:
    """Tell whether an expression is least, and not negative, where its variables are 0, and greatest at their ends."""
    return all(not isinstance(item, Binary) or item.op in ("+", "*") for item in preorder(expr)) and all(
        value is None or value >= 0
        for value in (constant_value(item) for item in preorder(expr) if isinstance(item, PrimExpr))
    )
