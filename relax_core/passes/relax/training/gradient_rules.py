"""The gradients of operators, as formulas of their arguments, their result and the gradient of that.

A rule gives a gradient for each of the first arguments of a call, `None` for one that has none. The operators with a
rule are those of apache-tvm, and `squeeze`; the formulas are the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.expr import Call, DataTypeImm, Expr, Null, PrimValue, ShapeExpr, TensorType, Tuple, TupleType, Var
from relax_core.ir.integer.prove import constant_value, prove_equal, simplify
from relax_core.ir.prim import Binary, PrimExpr, StringImm, const, dtype_of
from relax_core.ops import OPS
from relax_core.passes.relax.functions import integer, string
from relax_core.passes.relax.operators.calls import dtype, flag, ints
from relax_core.passes.relax.training.expressions import Expressions, op

Gradients: TypeAlias = Sequence[Expr | None]


@dataclass(frozen=True, slots=True)
class GradientSite:
    """A call whose gradient is asked for: the variable of its result, and that of the gradient of it."""

    call: Call
    name: str
    result: Var
    grad: Var
    made: Expressions

    def arg(self, name: str) -> Expr:
        """Return an argument by the name of its parameter."""
        return self.call.args[next(k for k, item in enumerate(OPS[self.name].params) if item.name == name)]

    def number(self, name: str) -> int | None:
        """Return an argument that is an integer, `None` if it is not given."""
        return _number(self.arg(name))

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Return an argument that is a list of integers, `None` if it is not given."""
        match self.arg(name):
            case Tuple(fields=fields):
                return tuple(item for item in map(_number, fields) if item is not None)
            case _:
                return None

    def word(self, name: str) -> str:
        """Return an argument that is a string, the empty one if it is not given."""
        match self.arg(name):
            case PrimValue(value=StringImm(value=text)):
                return text
            case _:
                return ""

    def fit(self, grad: Expr, like: Expr) -> Expr:
        """Sum a gradient to the shape of an argument that was broadcast."""
        self.made.normal(grad)
        have, want = self.made.dims(grad), self.made.dims(like)
        is_same = len(have) == len(want) and all(map(prove_equal, have, want))
        return grad if is_same else op("collapse_sum_to", grad, ShapeExpr(want))

    def count(self, expr: Expr, axes: tuple[int, ...] | None) -> int:
        """Return the number of elements along some axes, all of them if `None`.

        Raises:
            ValueError: it is not known.
        """
        dims = self.made.dims(expr)
        sizes = [constant_value(dims[axis]) for axis in (range(len(dims)) if axes is None else axes)]
        if not all(isinstance(size, int) for size in sizes):
            raise ValueError("the number of elements is symbolic")
        return reduce(lambda a, b: a * b, (int(size or 0) for size in sizes), 1)


def _number(expr: Expr) -> int | None:
    value = constant_value(expr.value) if isinstance(expr, PrimValue) else None
    return value if isinstance(value, int) else None


Rule: TypeAlias = Callable[[GradientSite], Gradients]
"""Raises `ValueError` if the gradient of this call is not known, with the reason."""


def _none(site: GradientSite) -> Gradients:
    return (None,) * len(site.call.args)


def _add(site: GradientSite) -> Gradients:
    x, y = site.call.args
    return site.fit(site.grad, x), site.fit(site.grad, y)


def _subtract(site: GradientSite) -> Gradients:
    x, y = site.call.args
    return site.fit(site.grad, x), site.fit(op("negative", site.grad), y)


def _multiply(site: GradientSite) -> Gradients:
    x, y = site.call.args
    return site.fit(op("multiply", site.grad, y), x), site.fit(op("multiply", site.grad, x), y)


def _divide(site: GradientSite) -> Gradients:
    x, y = site.call.args
    by_x = site.fit(op("divide", site.grad, y), x)
    return by_x, site.fit(op("divide", op("multiply", op("negative", site.grad), site.result), y), y)


def _power(site: GradientSite) -> Gradients:
    x, y = site.call.args
    lower = op("power", x, op("subtract", y, site.made.number(1, y)))
    by_x = site.fit(op("multiply", op("multiply", site.grad, y), lower), x)
    return by_x, site.fit(op("multiply", op("multiply", site.grad, site.result), op("log", x)), y)


def _extreme(first: str, second: str) -> Rule:
    def rule(site: GradientSite) -> Gradients:
        x, y = site.call.args
        zero = site.made.number(0, x)
        by_x = site.fit(op("where", op(first, x, y), zero, site.grad), x)
        return by_x, site.fit(op("where", op(second, x, y), zero, site.grad), y)

    return rule


def _abs(site: GradientSite) -> Gradients:
    (x,) = site.call.args
    one, less = site.made.number(1, x), op("less", x, site.made.number(0, x))
    return (op("multiply", site.grad, op("where", less, op("negative", one), one)),)


def _cos(site: GradientSite) -> Gradients:
    return (op("multiply", op("negative", site.grad), op("sin", site.call.args[0])),)


def _exp(site: GradientSite) -> Gradients:
    return (op("multiply", site.grad, site.result),)


def _log(site: GradientSite) -> Gradients:
    return (op("divide", site.grad, site.call.args[0]),)


def _negative(site: GradientSite) -> Gradients:
    return (op("negative", site.grad),)


def _sigmoid(site: GradientSite) -> Gradients:
    one = site.made.number(1, site.call.args[0])
    return (op("multiply", op("multiply", site.grad, site.result), op("subtract", one, site.result)),)


def _sin(site: GradientSite) -> Gradients:
    return (op("multiply", site.grad, op("cos", site.call.args[0])),)


def _sqrt(site: GradientSite) -> Gradients:
    half = site.made.number(0.5, site.call.args[0])
    return (op("divide", op("multiply", half, site.grad), site.result),)


def _tanh(site: GradientSite) -> Gradients:
    one = site.made.number(1, site.call.args[0])
    return (op("multiply", site.grad, op("subtract", one, op("multiply", site.result, site.result))),)


def _triu(site: GradientSite) -> Gradients:
    return (op("triu", site.grad, site.arg("k")),)


def _widened(site: GradientSite, grad: Expr) -> Expr:
    """Return the gradient of a reduction with the axes that went."""
    axes = site.numbers("axis")
    is_kept = site.number("keepdims") == 1
    return op("expand_dims", grad, ints(axes)) if axes and not is_kept else grad


def _sum(site: GradientSite) -> Gradients:
    return (op("broadcast_to", _widened(site, site.grad), site.made.shape(site.call.args[0])),)


def _mean(site: GradientSite) -> Gradients:
    x = site.call.args[0]
    count = site.made.number(site.count(x, site.numbers("axis")), site.grad)
    return (op("broadcast_to", _widened(site, op("divide", site.grad, count)), site.made.shape(x)),)


def _variance(site: GradientSite) -> Gradients:
    x = site.call.args[0]
    count = site.count(x, site.numbers("axis"))
    each = op("multiply", site.made.number(2.0 / count, x), x)
    total = op("sum", x, site.arg("axis"), flag(value=True))
    mean = op("multiply", site.made.number(2.0 / count / count, x), total)
    return (op("multiply", _widened(site, site.grad), op("subtract", each, mean)),)


def _permute_dims(site: GradientSite) -> Gradients:
    axes = site.numbers("axes")
    if axes is None:
        return (op("permute_dims", site.grad),)
    back = tuple(axes.index(axis) for axis in range(len(axes)))
    return (op("permute_dims", site.grad, ints(back)),)


def _concat(site: GradientSite) -> Gradients:
    axis = 0 if isinstance(site.arg("axis"), Null) else site.number("axis")
    type_ = site.made.type(site.call.args[0])
    if axis is None or not isinstance(type_, TupleType):
        raise ValueError("the tensors are not known one by one")
    places: list[PrimExpr] = []
    for item in type_.fields[:-1]:
        dims = item.dims if isinstance(item, TensorType) else None
        if dims is None:
            raise ValueError("the shape of a tensor is not known")
        places.append(_sum_of(dims[axis], places[-1]) if places else dims[axis])
    return (op("split", site.grad, Tuple(tuple(map(PrimValue, places))), integer(axis)),)


def _sum_of(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return simplify(Binary("+", a, b, dtype_of(a)))


def _split(site: GradientSite) -> Gradients:
    return (op("concat", site.grad, site.arg("axis")),)


def _expand_dims(site: GradientSite) -> Gradients:
    return (op("squeeze", site.grad, site.arg("axis")),)


def _squeeze(site: GradientSite) -> Gradients:
    return (op("reshape", site.grad, site.made.shape(site.call.args[0])),)


def _reshape(site: GradientSite) -> Gradients:
    return op("reshape", site.grad, site.made.shape(site.call.args[0])), None


def _cumsum(site: GradientSite) -> Gradients:
    x, axis = site.call.args[0], site.number("axis")
    if site.number("exclusive") == 1:
        raise ValueError("an exclusive sum has no gradient here")
    if axis is None:
        total = op("sum", site.grad, Null(), flag(value=True))
        parts = op("subtract", total, op("cumsum", site.grad))
        grad = op("reshape", op("add", parts, op("flatten", site.grad)), site.made.shape(x))
    else:
        total = op("sum", site.grad, ints((axis,)), flag(value=True))
        parts = op("subtract", total, op("cumsum", site.grad, integer(axis)))
        grad = op("add", parts, site.grad)
    given = site.arg("dtype")
    is_cast = isinstance(given, DataTypeImm) and given.value != "void"
    return (op("astype", grad, dtype(str(site.made.tensor(x).dtype))) if is_cast else grad,)


def _broadcast_to(site: GradientSite) -> Gradients:
    return op("collapse_sum_to", site.grad, site.made.shape(site.call.args[0])), None


def _take(site: GradientSite) -> Gradients:
    x, indices = site.call.args[:2]
    return op("grad.take_backward", site.grad, x, indices, site.arg("axis"), string("")), None


def _where(site: GradientSite) -> Gradients:
    condition, x, y = site.call.args
    zeros = site.made.number(0, x), site.made.number(0, y)
    return None, op("where", condition, site.grad, zeros[0]), op("where", condition, zeros[1], site.grad)


def _matmul(site: GradientSite) -> Gradients:
    a, b = site.call.args[:2]
    grad = site.grad
    match len(site.made.dims(a)), len(site.made.dims(b)):
        case 1, 1:
            by_a, by_b = op("multiply", grad, b), op("multiply", grad, a)
        case 1, rank:
            row = op("expand_dims", grad, ints((-2,)))
            column = op("expand_dims", a, ints((1,)))
            by_a, by_b = op("matmul", row, _transposed(b, rank)), op("matmul", column, row)
        case rank, 1:
            row = op("expand_dims", b, ints((0,)))
            column = op("expand_dims", grad, ints((-1,)))
            by_a = op("matmul", column, row)
            by_b = op("squeeze", op("matmul", _transposed(a, rank), column), ints((-1,)))
        case first, second:
            by_a, by_b = op("matmul", grad, _transposed(b, second)), op("matmul", _transposed(a, first), grad)
    return site.fit(by_a, a), site.fit(by_b, b)


def _transposed(expr: Expr, rank: int) -> Expr:
    return op("permute_dims", expr, ints((*range(rank - 2), rank - 1, rank - 2)))


def _astype(site: GradientSite) -> Gradients:
    return (op("astype", site.grad, dtype(str(site.made.tensor(site.call.args[0]).dtype))),)


def _relu(site: GradientSite) -> Gradients:
    (x,) = site.call.args
    zero = site.made.number(0, x)
    return (op("where", op("less", x, zero), zero, site.grad),)


def _silu(site: GradientSite) -> Gradients:
    (x,) = site.call.args
    share = op("sigmoid", x)
    rest = op("multiply", site.result, op("subtract", site.made.number(1, x), share))
    return (op("multiply", site.grad, op("add", share, rest)),)


def _softmax(site: GradientSite) -> Gradients:
    total = _total(site, op("multiply", site.grad, site.result))
    return (op("multiply", op("subtract", site.grad, total), site.result),)


def _log_softmax(site: GradientSite) -> Gradients:
    exp = op("exp", site.result)
    return (op("subtract", site.grad, op("multiply", _total(site, site.grad), exp)),)


def _total(site: GradientSite, expr: Expr) -> Expr:
    return op("sum", expr, ints((site.number("axis") or 0,)), flag(value=True))


def _cross_entropy(site: GradientSite) -> Gradients:
    x, y = site.call.args
    grad: Expr = site.grad
    if len(site.made.dims(x)) > 1:
        grad = op("divide", grad, site.made.number(site.count(x, (0,)), grad))
    minus = op("negative", grad), op("negative", grad)
    return op("multiply", minus[0], y), op("multiply", minus[1], x)


def _nll_loss(site: GradientSite) -> Gradients:
    return op("grad.nll_loss_backward", site.grad, *site.call.args), None, None


def _pool(name: str) -> Rule:
    return lambda site: (op(name, site.grad, *site.call.args),)


def _conv2d(site: GradientSite) -> Gradients:
    """The data's gradient is the transposed convolution, the weight's the one of the data with the gradient."""
    data, weight = site.call.args[:2]
    layouts = [site.word(name) for name in ("data_layout", "kernel_layout", "out_layout")]
    if layouts != ["NCHW", "OIHW", layouts[2]] or layouts[2] not in ("", "NCHW"):
        raise ValueError("only layouts NCHW and OIHW have a gradient")
    sizes = [[site.count(item, (axis,)) for axis in range(4)] for item in (data, weight, site.result)]
    (batch, channels, *image), (outs, _, *window), (_, _, *out) = sizes
    strides, dilation, padding = (_spread(site.numbers(name) or ()) for name in ("strides", "dilation", "padding"))
    groups = site.number("groups") or 1
    ends = [(padding[k], padding[k + 2]) for k in range(2)]
    back = [(out[k] - 1) * strides[k] - sum(ends[k]) + window[k] for k in range(2)]
    rest = tuple(image[k] - back[k] for k in range(2))
    by_data = op(
        "nn.conv2d_transpose", site.grad, weight, site.arg("strides"), site.arg("padding"), ints(rest),
        site.arg("dilation"), site.arg("groups"), string("NCHW"), string("IOHW"), string("NCHW"), site.arg("out_dtype"),
    )  # fmt: skip
    source: Expr = data
    if groups != 1:
        part = channels // groups
        source = op("reshape", source, _shape(batch, groups, part, *image))
        source = op("permute_dims", source, ints((1, 0, 2, 3, 4)))
        source = op("reshape", source, _shape(batch * groups, part, *image))
    by_weight = op(
        "nn.conv2d", source, site.grad, site.arg("dilation"), site.arg("padding"), site.arg("strides"),
        site.arg("groups"), string("CNHW"), string("IOHW"), string("CNHW"), site.arg("out_dtype"),
    )  # fmt: skip
    seen = [(image[k] - (out[k] - 1) * strides[k] - 1 + sum(ends[k])) // dilation[k] + 1 for k in range(2)]
    if seen != window:
        end = (outs, channels // groups, *window)
        by_weight = op("strided_slice", by_weight, ints((0, 1, 2, 3)), ints((0, 0, 0, 0)), ints(end))
    return by_data, by_weight


def _spread(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Return one or two numbers as those of top, left, bottom and right."""
    return numbers * (4 // len(numbers))


def _shape(*sizes: int) -> ShapeExpr:
    return ShapeExpr(tuple(map(const, sizes)))


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        f"relax.{name}": rule
        for names, rule in (
            ("equal greater greater_equal less less_equal not_equal", _none),
            ("zeros_like ones_like full_like zeros ones full", _none),
            ("add", _add), ("subtract", _subtract), ("multiply", _multiply), ("divide", _divide), ("power", _power),
            ("maximum", _extreme("less", "greater_equal")), ("minimum", _extreme("greater_equal", "less")),
            ("abs", _abs), ("cos", _cos), ("exp", _exp), ("log", _log), ("negative", _negative),
            ("sigmoid", _sigmoid), ("sin", _sin), ("sqrt", _sqrt), ("tanh", _tanh), ("triu", _triu),
            ("sum", _sum), ("mean", _mean), ("variance", _variance), ("permute_dims", _permute_dims),
            ("concat", _concat), ("split", _split), ("expand_dims", _expand_dims), ("squeeze", _squeeze),
            ("reshape", _reshape), ("cumsum", _cumsum), ("broadcast_to", _broadcast_to), ("take", _take),
            ("where", _where), ("matmul", _matmul), ("astype", _astype), ("nn.relu", _relu), ("nn.silu", _silu),
            ("nn.softmax", _softmax), ("nn.log_softmax", _log_softmax),
            ("nn.cross_entropy_with_logits", _cross_entropy), ("nn.nll_loss", _nll_loss), ("nn.conv2d", _conv2d),
            ("nn.max_pool2d", _pool("grad.max_pool2d_backward")), ("nn.avg_pool2d", _pool("grad.avg_pool2d_backward")),
        )
        for name in names.split()
    }
)  # fmt: skip
