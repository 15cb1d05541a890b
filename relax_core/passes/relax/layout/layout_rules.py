"""What operators make of the order in which the axes of their arguments are stored.

A rule says in which orders a call takes its tensors and gives its result, and what becomes of arguments that count or
name axes. Calls of operators without a rule take and give the order of the text. The operators with one are those of
apache-tvm, but for `dynamic_strided_slice`, whose rule there is to do nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.expr import Call, Expr, PrimValue, TensorType, Tuple, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import StringImm
from relax_core.ops import OPS
from relax_core.passes.relax.functions import integer, string
from relax_core.passes.relax.layout.orders import Layout, Layouts, Order
from relax_core.passes.relax.operators.calls import ints


@dataclass(frozen=True, slots=True)
class Stored:
    """The layouts of the first arguments and of the result of a call, and other arguments by their place."""

    inputs: tuple[Layout, ...]
    output: Layout
    args: Mapping[int, Expr] = field(default_factory=dict[int, Expr])


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call, with the types and layouts of its arguments, its own type, and the layouts that are wished for it."""

    call: Call
    name: str
    types: tuple[Type, ...]
    layouts: tuple[Layout, ...]
    type: Type
    desired: tuple[str, ...] = ()

    def order(self, index: int = 0) -> Order:
        """Return the order of an argument that is a tensor."""
        found = self.layouts[index]
        assert isinstance(found, Order), "calls with tensors of unknown rank are not asked for"
        return found

    def index(self, name: str) -> int:
        """Return the place of a parameter."""
        return next(k for k, param in enumerate(OPS[self.name].params) if param.name == name)

    def arg(self, name: str) -> Expr:
        """Return an argument."""
        return self.call.args[self.index(name)]

    def number(self, name: str) -> int | None:
        """Return an argument that is an integer."""
        return _number(self.arg(name))

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Return an argument that is a list of integers, `None` if it is not given."""
        match self.arg(name):
            case Tuple(fields=fields):
                found = tuple(map(_number, fields))
                known = tuple(item for item in found if item is not None)
                return known if len(known) == len(found) else None
            case _:
                return None

    def word(self, name: str) -> str:
        """Return an argument that is a string, the empty one if it is not given."""
        match self.arg(name):
            case PrimValue(value=StringImm(value=text)):
                return text
            case _:
                return ""

    def axis(self, name: str, order: Order) -> dict[int, Expr]:
        """Return the argument for an axis, where it is stored."""
        axis = self.number(name)
        return {} if axis is None else {self.index(name): integer(order.place(axis))}

    def axes(self, name: str, order: Order) -> dict[int, Expr]:
        """Return the argument for several axes, where they are stored, in the order of the text."""
        axes = self.numbers(name)
        return {} if axes is None else {self.index(name): ints(tuple(map(order.place, axes)))}


def _number(expr: Expr) -> int | None:
    value = constant_value(expr.value) if isinstance(expr, PrimValue) else None
    return value if isinstance(value, int) else None


Rule: TypeAlias = Callable[[CallSite], Stored | None]
"""`None` if the call takes and gives the order of the text."""


def _same(site: CallSite) -> Stored:
    """Each element of the result is made of the one in its place."""
    order = site.order()
    output = Layouts((order,) * len(site.type.fields)) if isinstance(site.type, TupleType) else order
    return Stored((order,), output)


def _broadcast(site: CallSite) -> Stored:
    """The operand of fewer axes decides, of two with equally many one in blocks or the first; a scalar has no say."""
    first, second = site.order(0), site.order(1)
    if not first.rank or not second.rank:
        return Stored((first, second), second if not first.rank else first)
    if first.rank == second.rank and second.packed and not first.packed:
        return Stored((second, second), second)
    if first.rank <= second.rank:
        order = first.extended(second.rank)
        return Stored((first, order), order)
    order = second.extended(first.rank)
    return Stored((order, second), order)


def _first_decides(count: int, axis: str = "") -> Rule:
    def rule(site: CallSite) -> Stored | None:
        order = site.order()
        if any(site.order(index).rank != order.rank for index in range(count)):
            return None
        return Stored((order,) * count, order, site.axis(axis, order) if axis else {})

    return rule


def _most_decide(site: CallSite) -> Stored | None:
    """Three operands take the order that two of them have, else that of the first."""
    orders = tuple(map(site.order, range(3)))
    order = orders[1] if orders[1] == orders[2] else orders[0]
    return Stored((order,) * 3, order) if all(item.rank == order.rank for item in orders) else None


def _along(axis: str) -> Rule:
    """One axis is told from the others; without it the elements are taken in the order of the text."""

    def rule(site: CallSite) -> Stored | None:
        order = site.order() if not site.order().packed else Order.initial(site.order().rank)
        return None if site.number(axis) is None else Stored((order,), order, site.axis(axis, order))

    return rule


def _normalized(*axes: str) -> Rule:
    """Axes are told from the others; scales and offsets keep the order of the text."""

    def rule(site: CallSite) -> Stored | None:
        order = site.order()
        args: dict[int, Expr] = {}
        if order.packed and order.cuts(site.numbers("axes") or ()):
            return None
        for name in axes:
            args |= site.axes(name, order) if site.numbers(name) is not None else site.axis(name, order)
        if isinstance(site.type, TupleType):
            rest = (Order.initial(1),) * (len(site.type.fields) - 1)
            return Stored((order,), Layouts((order, *rest)), args)
        return Stored((order,), order, args)

    return rule


def _reduced(site: CallSite) -> Stored | None:
    """Axes go, those in the blocks of one that goes as well."""
    order = site.order()
    axes = site.numbers("axis")
    dropped = tuple(range(order.rank)) if axes is None else tuple(axis % order.rank for axis in axes)
    is_kept = _number(site.arg("keepdims")) == 1
    if is_kept and order.cuts(dropped):
        return None
    new = {site.index("axis"): ints(tuple(sorted(order.places(dropped))))}
    return Stored((order,), order if is_kept else order.kept(dropped), new)


def _permuted(site: CallSite) -> Stored:
    """The permutation is combined with the one in which the data is stored."""
    order = site.order()
    axes = site.numbers("axes")
    wanted = tuple(reversed(range(order.rank))) if axes is None else axes
    new = {site.index("axes"): ints(tuple(map(order.place, wanted)))}
    return Stored((order,), Order.initial(order.rank), new)


def _expanded(site: CallSite) -> Stored | None:
    order = site.order()
    axes = site.numbers("axis")
    if axes is None:
        return None
    rank = order.rank + len(axes)
    return Stored((order,), order.with_new(axis % rank for axis in axes))


def _squeezed(site: CallSite) -> Stored | None:
    order = site.order()
    axes = site.numbers("axis")
    if axes is None:
        dims = site.types[0].dims if isinstance(site.types[0], TensorType) else None
        if dims is None or any(constant_value(dim) is None for dim in dims):
            return None
        axes = tuple(axis for axis, dim in enumerate(dims) if constant_value(dim) == 1)
    dropped = tuple(axis % order.rank for axis in axes)
    new = {site.index("axis"): ints(tuple(sorted(map(order.place, dropped))))}
    return Stored((order,), order.kept(dropped), new)


def _split(site: CallSite) -> Stored:
    order = site.order()
    count = len(site.type.fields) if isinstance(site.type, TupleType) else 1
    return Stored((order,), Layouts((order,) * count), site.axis("axis", order))


def _joined(site: CallSite) -> Stored | None:
    orders = _orders(site.layouts[0])
    if not orders or site.number("axis") is None:
        return None
    order = orders[0]
    if any(item != order and (item.packed or order.packed) for item in orders):
        return None
    return Stored((Layouts((order,) * len(orders)),), order, site.axis("axis", order))


def _stacked(site: CallSite) -> Stored | None:
    orders = _orders(site.layouts[0])
    axis = site.number("axis")
    if not orders or axis is None:
        return None
    order = orders[0]
    return Stored((Layouts((order,) * len(orders)),), order.with_new((axis % (order.rank + 1),)))


def _orders(layout: Layout) -> tuple[Order, ...]:
    fields = layout.fields if isinstance(layout, Layouts) else ()
    return tuple(item for item in fields if isinstance(item, Order))


def _sliced(site: CallSite) -> Stored | None:
    order = site.order()
    return None if site.numbers("axes") is None else Stored((order,), order, site.axes("axes", order))


def _tiled(site: CallSite) -> Stored | None:
    order = site.order()
    repeats = site.numbers("repeats")
    if repeats is None:
        return None
    rank = max(order.rank, len(repeats))
    full = (*(1 for _ in range(rank - len(repeats))), *repeats)
    output = order.extended(rank)
    return Stored((order,), output, {site.index("repeats"): ints(tuple(full[axis] for axis in output.axes))})


def _scattered(site: CallSite) -> Stored | None:
    """Indices count along the first axes, which must be where the text has them."""
    order, indices = site.order(0), site.types[1]
    dims = indices.dims if isinstance(indices, TensorType) else None
    count = constant_value(dims[-1]) if dims else None
    if not dims or not isinstance(count, int) or order.axes[:count] != tuple(range(count)):
        return None
    ahead = len(dims) - 1 - count
    updates = Order((*range(ahead + count), *(axis + ahead for axis in order.axes[count:])))
    return Stored((order, site.order(1), updates), order) if site.order(2).rank == updates.rank else None


def _named(*names: str) -> Rule:
    """Axes have names, in arguments that follow the order of the data."""

    def rule(site: CallSite) -> Stored:
        order = site.order()
        text = site.word(names[0])
        given = {name: site.word(name) or text for name in names}
        if site.desired:
            order = Order.between(text, site.desired[0])
        return Stored((order,), order, {site.index(name): string(order.name(word)) for name, word in given.items()})

    return rule


def _convolved(site: CallSite) -> Stored:
    """What is wished for decides, else the data and the weight as they are stored."""
    words = [site.word("data_layout"), site.word("kernel_layout")]
    words.append(site.word("out_layout") or words[0])
    if site.desired:
        data, weight, *rest = site.desired
        names = (data, weight, rest[0] if rest else data)
        orders = tuple(map(Order.between, words, names))
    else:
        orders = (site.order(0), site.order(1), site.order(0))
        names = tuple(order.name(word) for order, word in zip(orders, words, strict=True))
    places = map(site.index, ("data_layout", "kernel_layout", "out_layout"))
    return Stored(orders[:2], orders[2], dict(zip(places, map(string, names), strict=True)))


def _rules() -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for names, rule in _TABLE:
        found |= {f"relax.{name}": rule for name in names.split()}
    return found


_TABLE: tuple[tuple[str, Rule], ...] = (
    (
        "abs acos acosh asin asinh astype atan atanh bitwise_not ceil cos cosh erf exp floor isfinite isinf isnan log "
        "logical_not negative nn.dropout nn.gelu nn.gelu_tanh nn.relu nn.selu nn.silu round rsqrt sigmoid sign sin "
        "sinh sqrt square tan tanh trunc ccl.allgather ccl.allreduce ccl.broadcast_from_worker0",
        _same,
    ),
    (
        "add atan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide floor_mod greater greater_equal "
        "left_shift less less_equal log_add_exp logical_and logical_or logical_xor maximum minimum mod multiply "
        "not_equal power right_shift subtract",
        _broadcast,
    ),
    ("ewise_fma", _most_decide),
    ("gather_elements", _first_decides(2, "axis")),
    ("scatter_elements", _first_decides(3, "axis")),
    ("scatter_nd", _scattered),
    ("nn.softmax nn.prelu flip repeat", _along("axis")),
    ("nn.batch_norm", _normalized("axis")),
    ("nn.layer_norm nn.rms_norm", _normalized("axes")),
    ("nn.group_norm nn.instance_norm", _normalized("channel_axis", "axes")),
    ("max mean min prod std sum variance", _reduced),
    ("permute_dims", _permuted),
    ("expand_dims", _expanded),
    ("squeeze", _squeezed),
    ("split", _split),
    ("concat", _joined),
    ("stack", _stacked),
    ("strided_slice", _sliced),
    ("tile", _tiled),
    (
        "nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.avg_pool1d nn.avg_pool2d "
        "nn.avg_pool3d nn.max_pool1d nn.max_pool2d nn.max_pool3d",
        _named("layout", "out_layout"),
    ),
    ("image.resize2d image.resize3d", _named("layout")),
    ("nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d nn.conv3d_transpose", _convolved),
)
RULES: Mapping[str, Rule] = MappingProxyType(_rules())
_PACKING_RULES = (_same, _broadcast, _convolved, _reduced, _joined, _split, _most_decide)
_ALSO_PACKING = ("relax.nn.layer_norm", "relax.nn.softmax")
PACKING = frozenset(
    name for name, rule in RULES.items() if rule in _PACKING_RULES or "pool" in name or name in _ALSO_PACKING
)
"""The operators that take tensors whose axes are cut into blocks."""
CHOOSING = frozenset(name for name, rule in RULES.items() if rule is _convolved or name.startswith("relax.image."))
"""The operators that take a layout that is wished for."""
