"""Random numbers from a key: the cipher Threefry on counters, and distributions made of its words.

A key has ten words: four of the cipher's key; two of the path, a bit for each split, from the left; two of the counter,
of which the last counts words; two that have one bit set, where the path goes on.

See: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011; Claessen and Palka, Splittable
pseudorandom number generators using cryptographic hashing, 2013, appendix, encoding e4
"""

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Constant, Expr, TensorType, Tuple, TupleType, Type, constant
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.ops.relay.dims import dims_of
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.tensor.manipulate import new_dims
from relax_core.ops.relay.translation import cast, extent, rank, relax, size, untranslated
from relax_core.ops.relay.translation import scalar as number
from relax_core.ops.spec import REQUIRED

_KEY = TensorType(dims_of(10), "uint64")

_WORD = "uint64"

_ALL_ONES = 2**64 - 1

_FIRST_BIT = 1 << 63

_PARITY = 0x1BD11BDAA9FC1A22

_ROUNDS = 20

_ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))
"""By how many bits the two pairs of words are rotated in each of eight rounds; Skein's table for four words."""

_FRACTION_BITS = MappingProxyType({"float32": (32, 23), "float64": (64, 52)})


def _random_type(call: RelayCall) -> Type:
    return TupleType((_KEY, TensorType(new_dims(call, "out_shape"), call.dtype("out_dtype") or "float32")))


def _threefry_type(call: RelayCall) -> Type:
    return TupleType((_KEY, TensorType(new_dims(call, "out_shape"), "uint64")))


def _multinomial_type(call: RelayCall) -> Type:
    dims = call.dims(1)
    last: PrimExpr = IntImm(call.int_("num_samples"))
    return TupleType((_KEY, TensorType(None if dims is None else (*dims[:-1], last), "int32")))


@dataclass(frozen=True, slots=True)
class _State:
    """The parts of a key, vectors of words."""

    key: Expr
    path: Expr
    counter: Expr
    position: Expr

    def joined(self) -> Expr:
        """Return the key again."""
        return relax("concat", (self.key, self.path, self.counter, self.position), 0)


def _words(*values: int) -> Constant:
    return constant(np.array(values, _WORD))


def _part(words: Expr, begin: int, end: int, axis: int = 0) -> Expr:
    return relax("strided_slice", words, (axis,), (begin,), (end,))


def _state(words: Expr) -> _State:
    return _State(*(_part(words, *ends) for ends in ((0, 4), (4, 6), (6, 8), (8, 10))))


def _enciphered(key: Expr, text: Expr) -> Expr:
    """Return Threefry-4x64-20 of each row of `(n, 4)` words.

    Words 0 and 2 are in one matrix, words 1 and 3 in another: a round mixes them pair by pair, and exchanges 1 and 3.
    """
    parity: Expr = _words(_PARITY)
    for k in range(4):
        parity = relax("bitwise_xor", parity, _part(key, k, k + 1))
    wide = relax("concat", (key, parity), 0)
    even, odd = (relax("take", text, constant(np.array(at, "int64")), 1) for at in ((0, 2), (1, 3)))
    for turn in range(_ROUNDS // 4 + 1):
        even = relax("add", even, relax("take", wide, constant(np.array([turn % 5, (turn + 2) % 5], "int64")), 0))
        added = relax("take", wide, constant(np.array([(turn + 1) % 5, (turn + 3) % 5], "int64")), 0)
        odd = relax("add", odd, relax("add", added, _words(0, turn)))
        for step in range(4 * turn, min(4 * turn + 4, _ROUNDS)):
            by = _ROTATIONS[step % 8]
            even = relax("add", even, odd)
            left = relax("left_shift", odd, _words(*by))
            right = relax("right_shift", odd, _words(*(64 - item for item in by)))
            odd = relax("flip", relax("bitwise_xor", even, relax("bitwise_or", left, right)), 1)
    pairs = relax("stack", (even, odd), 2)
    return relax("reshape", pairs, (-1, 4))


def _rekeyed(state: _State, text: Expr) -> Expr:
    """Return the words of the key that follows when a path is full: what the old key makes of a row of words."""
    return relax("reshape", _enciphered(state.key, relax("reshape", text, (1, 4))), (4,))


def _has_no_path(state: _State) -> Expr:
    return relax("equal", relax("max", state.position, (0,), True), _words(0))


def _chosen(is_first: Expr, first: _State, second: _State) -> _State:
    pairs = zip(
        (first.key, first.path, first.counter, first.position),
        (second.key, second.path, second.counter, second.position),
        strict=True,
    )
    return _State(*(relax("where", is_first, *pair) for pair in pairs))


def _next_position(position: Expr) -> Expr:
    """Shift two words to the right by one bit."""
    one = _words(1)
    high, low = _part(position, 0, 1), _part(position, 1, 2)
    carried = relax("left_shift", high, _words(63))
    return relax("concat", (relax("right_shift", high, one), relax("bitwise_or", relax("right_shift", low, one),
                                                                   carried)), 0)  # fmt: skip


def _turned(state: _State) -> Expr:
    """Return the path with a one at its position."""
    return relax("bitwise_or", state.path, state.position)


def _with_room(state: _State, count: int) -> _State:
    """Return a state whose counter has room for `count` words: the path goes on if it has not, or the key changes."""
    on_path = _State(state.key, _turned(state), _words(0, 0), _next_position(state.position))
    fresh = _State(_rekeyed(state, _words(*(_ALL_ONES,) * 4)), _words(0, 0), _words(0, 0), _words(_FIRST_BIT, 0))
    is_full = relax("greater", _part(state.counter, 1, 2), _words(_ALL_ONES - count))
    return _chosen(is_full, _chosen(_has_no_path(state), fresh, on_path), state)


def _generated(words: Expr, count: int) -> tuple[Expr, Expr]:
    """Return the key behind `count` words, and the words: blocks of four, each of its own counter."""
    blocks = -(-count // 4)
    state = _with_room(_state(words), 4 * blocks)
    steps = np.zeros((blocks, 4), _WORD)
    steps[:, 3] = 4 * np.arange(blocks)
    text = relax("add", relax("concat", (state.path, state.counter), 0), constant(steps))
    drawn = _part(relax("reshape", _enciphered(state.key, text), (4 * blocks,)), 0, count)
    behind = relax("add", state.counter, _words(0, 4 * blocks))
    return _State(state.key, state.path, behind, state.position).joined(), drawn


def _generate(call: RelayCall) -> Expr:
    shape = call.ints("out_shape")
    key, drawn = _generated(call.exprs[0], _count(call, shape))
    return Tuple((key, relax("reshape", drawn, shape)))


def _count(call: RelayCall, shape: tuple[int, ...]) -> int:
    count = math.prod(shape)
    if count < 1:
        raise untranslated(call, f"the shape {shape} has no element")
    return count


def _split(call: RelayCall) -> Expr:
    """The left key is the path with a zero behind it, the right one that with a one."""
    state = _state(call.exprs[0])
    text = relax("concat", (state.path, state.counter), 0)
    position = _next_position(state.position)
    full, key = _has_no_path(state), _rekeyed(state, text)
    left, right = (
        _chosen(full, _State(key, path, _words(0, 0), _words(_FIRST_BIT >> 1, 0)),
                _State(state.key, turn, state.counter, position))
        for path, turn in ((_words(0, 0), state.path), (_words(_FIRST_BIT, 0), _turned(state)))
    )  # fmt: skip
    return Tuple((left.joined(), right.joined()))


def _fractions(call: RelayCall, shape: tuple[int, ...], dtype: str) -> tuple[Expr, Expr]:
    """Return the key behind, and numbers from 0 up to 1: the high bits of what a word has, as a binary fraction."""
    if dtype not in _FRACTION_BITS:
        raise untranslated(call, f"numbers of type {dtype}, neither float32 nor float64")
    width, bits = _FRACTION_BITS[dtype]
    key, drawn = _generated(call.exprs[0], _count(call, shape))
    low = relax("bitwise_and", drawn, _words(2**width - 1))
    whole = cast(relax("right_shift", low, _words(width - bits)), dtype)
    return key, relax("reshape", relax("multiply", whole, number(2.0**-bits, dtype)), shape)


def _out_dtype(call: RelayCall) -> str:
    return call.dtype("out_dtype") or "float32"


def _uniform(call: RelayCall) -> Expr:
    dtype = _out_dtype(call)
    key, drawn = _fractions(call, call.ints("out_shape"), dtype)
    low, high = (cast(item, dtype) for item in call.exprs[1:])
    return Tuple((key, relax("add", relax("multiply", drawn, relax("subtract", high, low)), low)))


def _normal(call: RelayCall) -> Expr:
    """Take two numbers for each: the distance from the mean and the angle of a point.

    See: Box and Muller, A note on the generation of random normal deviates, 1958
    """
    shape, dtype = call.ints("out_shape"), _out_dtype(call)
    key, drawn = _fractions(call, (2, *shape), dtype)
    first, second = (relax("squeeze", _part(drawn, k, k + 1), (0,)) for k in range(2))
    logarithm = relax("log", relax("subtract", number(1.0, dtype), first))
    radius = relax("sqrt", relax("multiply", number(-2.0, dtype), logarithm))
    point = relax("multiply", radius, relax("sin", relax("multiply", number(2 * math.pi, dtype), second)))
    mean, scale = (cast(item, dtype) for item in call.exprs[1:])
    return Tuple((key, relax("add", relax("multiply", point, scale), mean)))


def _multinomial(call: RelayCall) -> Expr:
    """The index of a sample is how many running sums of the probabilities it reaches."""
    count, axes = call.int_("num_samples"), rank(call, 1)
    before = tuple(size(call, axis, 1) for axis in range(axes - 1))
    key, drawn = _fractions(call, (*before, count), "float32")
    held = relax("maximum", cast(call.exprs[1], "float32"), number(0.0, "float32"))
    parts = relax("divide", held, relax("sum", held, (axes - 1,), True))
    sums = relax("expand_dims", relax("cumsum", parts, axes - 1), (axes - 1,))
    reached = cast(relax("less_equal", sums, relax("expand_dims", drawn, (axes,))), "int32")
    index = relax("sum", reached, (axes,))
    # Where rounding leaves the last sum below a sample, no index is found, and the first one stands for it.
    last = extent(call, axes - 1, 1)
    return Tuple((key, relax("where", relax("less", index, cast(last, "int32")), index, number(0, "int32"))))


def _split_type(call: RelayCall) -> Type:
    return TupleType((_KEY, _KEY))


_SHAPE = MappingProxyType({"out_shape": REQUIRED, "out_dtype": "float32"})

SPECS = (
    op("random.threefry_generate", "key", _generate, {"out_shape": REQUIRED}, relation=_threefry_type),
    op("random.threefry_split", "key", _split, relation=_split_type),
    op("random.uniform", "key low high", _uniform, _SHAPE, relation=_random_type),
    op("random.normal", "key mean scale", _normal, _SHAPE, relation=_random_type),
    op(
        "random.multinomial",
        "key probs",
        _multinomial,
        {"num_samples": REQUIRED},
        relax="multinomial_from_uniform",
        relation=_multinomial_type,
    ),
)
