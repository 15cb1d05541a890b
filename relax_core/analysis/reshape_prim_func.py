"""Prim funcs that only reshape: element k of the input, counted row by row, is element k of the output.

See: tvm/src/relax/analysis/tir_op_pattern_kind.cc, HasReshapePattern
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import gcd

from relax_core.ir.integer.polynomial import split_by_product
from relax_core.ir.integer.prove import as_expression, canonical_form, constant_value, prove_equal, simplify
from relax_core.ir.node import Node, map_children, postorder, preorder
from relax_core.ir.prim import Binary, PrimExpr, PrimVar, binary, const, dtype_of
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, Evaluate, IfThenElse, PrimFunc, While


def is_reshape(function: PrimFunc) -> bool:
    """Tell whether it is proven that `function` copies its one input to its one output, element by element in order.

    The input is its first parameter; numbers, as the sizes of its shapes, may follow.
    """
    if len(function.buffers) != 2 or function.params[0] is not function.buffers[0].handle:
        return False
    source, target = (item.buffer for item in function.buffers)
    stores: list[BufferStore] = []
    blocks: list[Block] = []
    for item in preorder(function.body):
        # Most prim funcs compute something, which ends the search here.
        if isinstance(item, _OTHER) or (isinstance(item, BufferStore) and not isinstance(item.value, BufferLoad)):
            return False
        if isinstance(item, BufferStore):
            stores.append(item)
        elif isinstance(item, Block) and item.iter_vars:
            blocks.append(item)
    if len(stores) != 1 or len(blocks) != 1:
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
        case _ if (parts := _split(a, b)) is not None:
            # (b * q + r) // b is q + r // b.
            whole, rest = parts
            return binary("+", whole, _quotient(rest, b, extents))
        case _ if _is_less(a, b, extents):
            return const(0)
        case _:
            pass
    for common, rest in _common_products(a, b):
        parts = _split(a, common)
        if parts is not None and _is_less(parts[1], common, extents):
            # (c * q + r) // (c * d) is q // d for an r below c.
            return _quotient(parts[0], rest, extents)
    return binary("//", a, b)


def _is_less(a: PrimExpr, b: PrimExpr, extents: Mapping[PrimVar, PrimExpr]) -> bool:
    """Tell whether `a` is proven to lie in `[0, b)` for all variables within their extents."""
    last = {var: binary("-", extent, const(1)) for var, extent in extents.items()}
    count = simplify(binary("+", replace_symbols(a, last), const(1)))
    number, divisor = constant_value(count), constant_value(b)
    is_less = number is not None and divisor is not None and number <= divisor
    return _only_grows(a) and (is_less or prove_equal(count, b))


def _split(a: PrimExpr, b: PrimExpr) -> tuple[PrimExpr, PrimExpr] | None:
    """Return q and r with `a = b * q + r`: the terms of the sum that `b`, a product, divides, and the rest of them."""
    atoms: dict[str, PrimExpr] = {}
    match list(canonical_form(b, atoms).items()):
        case [(factors, count)] if count > 0:
            whole, rest = split_by_product(canonical_form(a, atoms), factors, count)
        case _:
            return None
    return (as_expression(whole, atoms, dtype_of(a)), as_expression(rest, atoms, dtype_of(a))) if whole else None


def _common_products(a: PrimExpr, b: PrimExpr) -> Iterator[tuple[PrimExpr, PrimExpr]]:
    """Yield c and d with `b = c * d` for what `b`, a product, has in common with a term of the sum `a`."""
    atoms: dict[str, PrimExpr] = {}
    match list(canonical_form(b, atoms).items()):
        case [(factors, count)] if count > 0:
            terms = canonical_form(a, atoms)
        case _:
            return
    for monomial, coefficient in terms.items():
        shared, number = Counter(monomial) & Counter(factors), gcd(coefficient, count)
        common = {tuple(sorted(shared.elements())): number}
        rest = {tuple(sorted((Counter(factors) - shared).elements())): count // number}
        if common != {(): 1}:
            yield as_expression(common, atoms, dtype_of(b)), as_expression(rest, atoms, dtype_of(b))


def _only_grows(expr: PrimExpr) -> bool:
    """Tell whether an expression is least, and not negative, where its variables are 0, and greatest at their ends."""
    return all(not isinstance(item, Binary) or item.op in ("+", "*") for item in preorder(expr)) and all(
        value is None or value >= 0
        for value in (constant_value(item) for item in preorder(expr) if isinstance(item, PrimExpr))
    )
