"""The elementary functions that kernels compute without calls, and their definitions in LLVM's language."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from relax_core.jit.functions import double, single
from relax_core.jit.functions.circular import acos, asin, atan, cos, sin, tan
from relax_core.jit.functions.exponential import cosh, exp, exp2, exp10, expm1, sigmoid, sinh, tanh
from relax_core.jit.functions.logarithm import ln, log1p, log2_of, log10, power
from relax_core.jit.functions.real import Body, Real, Scalar, choose
from relax_core.jit.lowering.code import FunctionBuilder

# erf(x) / x as a function of x**2, for x up to one.
_NEAR = (
    1.128379167058022,
    -0.376126384346502,
    0.11283781974093461,
    -0.026865400041477167,
    0.005220945431037926,
    -0.000848282882075137,
    0.00011256947740442078,
    -9.64151562791536e-06,
)
# log2(1 - erf(x)) for x from one to four; beyond, the float32 nearest to erf(x) is one.
_FAR = (
    0.0002948290820743438,
    -1.6297565495772608,
    -0.9132831087099877,
    -0.1567329447075746,
    0.036606304141617155,
    -0.006178172713612423,
    0.0006691048363536799,
    -3.652157553913949e-05,
    3.625895874150735e-07,
)
_BORDER, _END = 1.0, 4.0


def erf(x: Real) -> Real:
    """Return the error function."""
    size = abs(x).at_most(_END)
    near = size * (size * size).polynomial(_NEAR)
    far = 1.0 - exp2(size.polynomial(_FAR))
    return choose(size.is_above(_BORDER), far, near).with_sign_of(x)


def rsqrt(x: Real) -> Real:
    """Return `1 / sqrt(x)`, where two roundings of float32 alone would err by up to one and a half units."""
    near = (1.0 / x.to("float").root()).to("double")
    # One step of Newton's method; where its residual is no number, the first value is infinity, zero or NaN.
    residual = 1.0 - x * near * near
    return choose(residual.is_nan(), near, near + near * residual * 0.5)


Define = Callable[..., Real]

ELEMENTARY: Mapping[str, Define] = MappingProxyType(
    {
        "exp": exp,
        "exp2": exp2,
        "exp10": exp10,
        "expm1": expm1,
        "sigmoid": sigmoid,
        "tanh": tanh,
        "sinh": sinh,
        "cosh": cosh,
        "log": ln,
        "log2": log2_of,
        "log10": log10,
        "log1p": log1p,
        "pow": power,
        "power": power,
        "erf": erf,
        "sin": sin,
        "cos": cos,
        "tan": tan,
        "atan": atan,
        "asin": asin,
        "acos": acos,
        "rsqrt": rsqrt,
    }
)
# Those whose definition is on float32 itself; the others take doubles, and their results are rounded.
_SINGLE: Mapping[str, Define] = MappingProxyType(
    {
        "exp": single.exp,
        "log": single.ln,
        "tanh": single.tanh,
        "sin": sin,
        "cos": cos,
        "tan": tan,
        "pow": power,
        "power": power,
    }
)
# Those that have a definition of their own on float64.
ELEMENTARY_DOUBLE: Mapping[str, Define] = MappingProxyType({"exp": double.exp, "log": double.ln})
_CALLED = "noinline nounwind willreturn memory(none)"
_ARITY: Mapping[str, int] = MappingProxyType({"pow": 2, "power": 2})


def define_function(
    code: FunctionBuilder,
    name: str,
    lanes: int = 1,
    scalar: Scalar = "float",
    *,
    has_scaling: bool = False,
    widths: Sequence[int] = (),
) -> str:
    """Define the function `name` of `ELEMENTARY` in the module of `code` and return its symbol.

    It takes and returns a `float`, or `<lanes x float>`, and has no side effects; for `scalar` "double" it is one of
    `ELEMENTARY_DOUBLE`, on doubles. Lane by lane the results are the same bits for every number of lanes. They differ
    from the exact value by less than one unit in the last place; infinities, NaN, the sign of zero and subnormal
    numbers are those of C's function. `has_scaling` says that the processor multiplies by powers of two in one
    instruction, as with AVX-512; the results are the same without.

    Straight code is inlined where it is called, and becomes part of the vectors that LLVM makes of a loop. A function
    with branches cannot: it is defined for vectors of `widths` too, which LLVM calls in the loop instead.
    """
    symbol = _symbol(name, lanes, scalar)
    if symbol in code.declarations:
        return symbol
    widths = widths if lanes == 1 else ()
    body, text = _defined(code, (name, lanes, scalar), has_scaling=has_scaling)
    if body.other is None:
        code.declarations[symbol] = text("internal", "alwaysinline nounwind")
        return symbol
    signs = "v" * _ARITY.get(name, 1)
    mangled: list[str] = []
    for width in widths if lanes == 1 else ():
        variant = _symbol(name, width, scalar)
        _, written = _defined(code, (name, width, scalar), has_scaling=has_scaling)
        # One that is hidden stays until the loops are made; then it is inlined as well.
        code.variants[variant] = written("hidden", "alwaysinline nounwind willreturn memory(none)")
        mangled.append(f"_ZGV_LLVM_N{width}{signs}_{symbol[1:]}({variant[1:]})")
    variants = f' "vector-function-abi-variant"="{",".join(mangled)}"' if mangled else ""
    code.declarations[symbol] = text("internal", f"{_CALLED}{variants}")
    return symbol


def _symbol(name: str, lanes: int, scalar: Scalar) -> str:
    return f"@{name}.{'' if lanes == 1 else f'v{lanes}'}{'f32' if scalar == 'float' else 'f64'}"


def _defined(
    code: FunctionBuilder, wanted: tuple[str, int, Scalar], *, has_scaling: bool
) -> tuple[Body, Callable[[str, str], str]]:
    """Return the body of a function and what writes it with a linkage and attributes; what it needs is declared."""
    name, lanes, scalar = wanted
    define, inner = _definition(name, scalar)
    symbol, arity = _symbol(name, lanes, scalar), _ARITY.get(name, 1)
    body = Body(symbol, scalar, lanes, arity, has_scaling=has_scaling)
    result = define(*(arg.to(inner) for arg in body.args)).to(scalar)
    text = _text(code, body, result)
    if body.other is None:
        return body, text
    other = Body(f"{symbol}.other", scalar, lanes, arity, has_scaling=has_scaling)
    rest = _text(code, other, body.other(*other.args))("internal", f"cold {_CALLED}")
    return body, lambda linkage, attributes: f"{text(linkage, attributes)}\n{rest}"


def _text(code: FunctionBuilder, body: Body, result: Real) -> Callable[[str, str], str]:
    for declaration in body.declarations:
        code.declare(declaration)
    code.declarations.update(body.tables)
    kind = body.typed(result.scalar)
    head = f"{kind} {body.symbol}({', '.join(f'{kind} {arg.register}' for arg in body.args)})"
    lines = ("entry:", *body.lines, f"  ret {kind} {result.register}", "}")
    return lambda linkage, attributes: "\n".join((f"define {linkage} {head} {attributes} {{", *lines))


def _definition(name: str, scalar: Scalar) -> tuple[Define, Scalar]:
    """Return the definition of a function, and the type in which it computes."""
    if scalar == "double":
        return ELEMENTARY_DOUBLE[name], "double"
    return (_SINGLE[name], "float") if name in _SINGLE else (ELEMENTARY[name], "double")
