"""Calls of scalar intrinsics."""

from collections.abc import Callable

from relax_core.diagnostics import CompileError
from relax_core.ir.prim import (
    Binary,
    Cast,
    IntImm,
    Intrinsic,
    PrimExpr,
    Select,
    StringImm,
    binary,
    const,
    dtype_of,
    scalar_of,
)
from relax_core.jit.functions.real import Scalar
from relax_core.jit.functions.table import ELEMENTARY, ELEMENTARY_DOUBLE, define_function
from relax_core.jit.lowering.checks import unsupported
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.intrinsics import (
    C_FUNCTIONS,
    EXTERN_CALLS,
    EXTREMA,
    FUNCTIONS,
    LLVM_FUNCTIONS,
    ON_INTEGERS,
    REWRITTEN,
    arity_of,
    symbol_of,
)
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.state import State
from relax_core.jit.remarks import KernelRemark

# Processors with vectors of so many bits multiply by powers of two in one instruction.
SCALING_BITS = 512
_INFINITIES = "0xH7C00", "0x7FF0000000000000", "0x7FF0000000000000"


def lower_intrinsic(state: State, expr: Intrinsic, lower_args: Callable[[], tuple[str, ...]]) -> str:
    """Emit a call of an intrinsic of the fixed list; any other name is a diagnostic."""
    arity = arity_of(expr.name)
    if arity is None:
        raise unknown_intrinsic(state, expr)
    if len(expr.args) != arity:
        what = f"`T.{expr.name}` with {len(expr.args)} arguments, where it takes {arity},"
        raise unsupported(what, expr, state.locate)
    result = state.scalar_of(expr)
    source = state.scalar_of(expr.args[0]) if expr.args else result
    if source.kind != "float" and expr.name not in ON_INTEGERS and result.kind != "bool":
        raise unsupported(f"`T.{expr.name}` of {source.name}", expr, state.locate, "Cast the argument to a float.")
    args = lower_args()
    if state.options.mode != "bitwise" and expr.name in ELEMENTARY and source.kind == "float":
        if source.bits < 64 or expr.name in ELEMENTARY_DOUBLE:
            return _elementary(state, expr, args, source)
        reason = f"`T.{expr.name}` of {source.name} is computed by the C library, one value at a time"
        state.emitted.remarks.append(KernelRemark("refused", "elementary functions", expr, reason))
    if state.options.mode == "bitwise" and expr.name in REWRITTEN and source.kind == "float":
        return convert(state, _as_in_tvm(state, expr.name, args[0], source), source, result)
    if expr.name in FUNCTIONS and source.kind == "float":
        return _call(state, expr, args, source)
    return _composed(state, expr, args, source)


def unknown_intrinsic(state: State, expr: Intrinsic) -> CompileError:
    """Make the error for a call of what kernels do not know."""
    match expr:
        case Intrinsic(name="global", args=(StringImm(value=name), *_)):
            what, hint = (
                f"A call of the prim func `{name}`",
                "Kernels call no other kernels; write its statements here.",
            )
        case Intrinsic(name="call_ffi_kernel" | "call_kernel", args=(StringImm(value=name), *_)):
            what, hint = f"The launch of `{name}`", "`run --simulate` runs its threads on a simulated GPU."
        case _:
            what, hint = f"`T.{expr.name}`", "Only the intrinsics of the kernel compiler's own list can be called."
    return unsupported(what, expr, state.locate, hint)


def named_function(state: State, expr: Intrinsic) -> PrimExpr:
    """Return a call of a function of C's library or of LLVM, by its name, as what it computes."""
    match expr:
        case Intrinsic(name="q_multiply_shift", args=(x, y, q, s)):
            return _multiply_shift(expr, (x, y, q, s))
        case Intrinsic(name=how, args=args) if how in EXTERN_CALLS:
            # The dtype of the result may stand before the name.
            given = args[1:] if len(args) > 1 and isinstance(args[1], StringImm) else args
            found = (_found(expr, given) or _extremum(expr, given)) if given else None
            if found is not None:
                return found
            name = given[0].value if given and isinstance(given[0], StringImm) else "?"
            hint = "Only functions of C's mathematical library are called."
            raise unsupported(f"A `T.{how}` of `{name}`", expr, state.locate, hint)
        case _:
            raise unknown_intrinsic(state, expr)


def _found(expr: Intrinsic, given: tuple[PrimExpr, ...]) -> Intrinsic | None:
    """Return the intrinsic that a function of C or LLVM computes, if its arguments are what it takes."""
    match given:
        case (StringImm(value=symbol), *rest):
            pass
        case _:
            return None
    name, dtype = C_FUNCTIONS.get(symbol, ("", ""))
    if symbol.startswith("llvm."):
        head, _, suffix = symbol.rpartition(".")
        name = LLVM_FUNCTIONS.get(head if suffix in ("f16", "f32", "f64") else symbol, "")
        dtype = scalar_of(expr.dtype)
        # Older programs say first how many of the arguments the signature counts.
        rest = rest[1:] if len(rest) == (arity_of(name) or 0) + 1 and isinstance(rest[0], IntImm) else rest
    is_fitting = name and len(rest) == arity_of(name) and scalar_of(expr.dtype) == dtype
    if not is_fitting or any(scalar_of(dtype_of(item)) != dtype for item in rest):
        return None
    return Intrinsic(name, tuple(rest), expr.dtype, span=expr.span)


def _extremum(expr: Intrinsic, given: tuple[PrimExpr, ...]) -> PrimExpr | None:
    """Return the greater of two numbers by `fmaxf` or its like, or the lesser: where one is NaN, the other."""
    match given:
        case (StringImm(value=symbol), x, y) if symbol in EXTREMA:
            op, dtype = EXTREMA[symbol]
        case _:
            return None
    dtype = dtype or expr.dtype
    if dtype not in ("float16", "float32", "float64") or any(
        item != dtype for item in (expr.dtype, dtype_of(x), dtype_of(y))
    ):
        return None
    is_second = Binary("or", Binary(op, y, x, "bool"), Binary("!=", x, x, "bool"), "bool")
    return Select(is_second, y, x, dtype, span=expr.span)


def _multiply_shift(expr: Intrinsic, args: tuple[PrimExpr, PrimExpr, PrimExpr, PrimExpr]) -> PrimExpr:
    """Return `x * y * 2 ** (s - q)` of fixed-point numbers, rounded to the nearest, upwards between two."""
    x, y, q, s = (Cast(item, "int64", span=expr.span) for item in args)
    zero = const(0, "int64")
    left, right = binary("max", s, zero), binary("-", q, binary("min", s, zero))
    product = binary("*", Binary("<<", x, left, "int64"), y)
    half = Binary("<<", const(1, "int64"), binary("-", right, const(1, "int64")), "int64")
    rounded = Binary(">>", binary("+", product, half), right, "int64")
    return Cast(Select(binary(">", right, zero), rounded, product, "int64"), scalar_of(expr.dtype), span=expr.span)


def _call(state: State, expr: Intrinsic, args: tuple[str, ...], scalar: ScalarType) -> str:
    # libm has no functions of half precision, and LLVM's come out as calls of those of single precision.
    inner = scalar if scalar.bits == 64 else SCALAR_TYPES["float32"]
    values = _converted(state, expr, args, (scalar, inner))
    result = _call_symbol(state, symbol_of(FUNCTIONS[expr.name], inner), values, inner)
    return _as_result(state, expr, result, inner)


def _elementary(state: State, expr: Intrinsic, args: tuple[str, ...], scalar: ScalarType) -> str:
    """Emit a call of a function of this module's own, which LLVM inlines and can compute for many values at once."""
    inner = SCALAR_TYPES["float64" if scalar.bits == 64 else "float32"]
    values = _converted(state, expr, args, (scalar, inner))
    kind: Scalar = "double" if scalar.bits == 64 else "float"
    # A loop with 64-bit values besides has vectors of half as many elements.
    is_wide = any(state.scalar_of(buffer).bits == 64 for buffer in state.environment.storage)
    widths = (state.options.lanes(64 if is_wide else 32),)
    has_scaling = state.options.vector_bits >= SCALING_BITS
    symbol = define_function(state.code, expr.name, scalar=kind, has_scaling=has_scaling, widths=widths)
    result = state.code.emit(f"call {kind} {symbol}({', '.join(f'{kind} {value}' for value in values)})")
    return _as_result(state, expr, result, inner)


def _as_result(state: State, expr: Intrinsic, result: str, inner: ScalarType) -> str:
    """Emit the conversion to the dtype of the call; a bfloat16 stays a float in a register, as behind arithmetic."""
    scalar = state.scalar_of(expr)
    return result if scalar.is_narrowed and inner.register == scalar.register else convert(state, result, inner, scalar)


def _converted(
    state: State, expr: Intrinsic, args: tuple[str, ...], scalars: tuple[ScalarType, ScalarType]
) -> list[str]:
    """Emit the conversions of the arguments to the type of the first one, and from there to that of the function."""
    common, inner = scalars
    return [
        convert(state, convert(state, arg, state.scalar_of(source), common), common, inner)
        for arg, source in zip(args, expr.args, strict=True)
    ]


def _call_symbol(state: State, symbol: str, values: list[str], scalar: ScalarType) -> str:
    llvm = scalar.register
    # A libm function may write errno, which no kernel reads; as pure it can be moved out of loops.
    state.code.declare(f"declare {llvm} @{symbol}({', '.join([llvm] * len(values))}) memory(none) nounwind willreturn")
    return state.code.emit(f"call {llvm} @{symbol}({', '.join(f'{llvm} {value}' for value in values)})")


def _composed(state: State, expr: Intrinsic, args: tuple[str, ...], scalar: ScalarType) -> str:
    code, llvm = state.code, scalar.register
    match expr.name:
        case "likely":
            return convert(state, args[0], scalar, state.scalar_of(expr))
        case "infinity":
            return _INFINITIES[(16, 32, 64).index(scalar.bits)]
        case "sigmoid":
            opposite = code.emit(f"fneg {llvm} {args[0]}")
            power = _through_single(state, "llvm.exp", opposite, scalar)
            return code.emit(f"fdiv {llvm} 1.0, {code.emit(f'fadd {llvm} 1.0, {power}')}")
        case "rsqrt":
            return code.emit(f"fdiv {llvm} 1.0, {_through_single(state, 'llvm.sqrt', args[0], scalar)}")
        case "isnan" | "isinf" | "isfinite":
            return _classify(state, expr.name, args[0], scalar)
        case "abs" | "fabs":
            return _integer_call(state, "abs", args[0], scalar, ", i1 false") if scalar.kind == "int" else args[0]
        case "popcount":
            count = _integer_call(state, "ctpop", args[0], scalar)
            return convert(state, count, scalar, state.scalar_of(expr))
        case "clz":
            count = _integer_call(state, "ctlz", args[0], scalar, ", i1 false")
            return convert(state, count, scalar, state.scalar_of(expr))
        case "reinterpret":
            return _reinterpret(state, expr, args[0], scalar)
        case _:
            raise unsupported(f"`T.{expr.name}` of {scalar.name}", expr, state.locate)


def _as_in_tvm(state: State, name: str, x: str, scalar: ScalarType) -> str:
    """Emit a function from the parts that TVM makes it of, in the same order."""
    code, llvm = state.code, scalar.register
    match name:
        case "tan":
            sine, cosine = (_through_single(state, f"llvm.{part}", x, scalar) for part in ("sin", "cos"))
            return code.emit(f"fdiv {llvm} {sine}, {cosine}")
        case "atanh":
            above, below = code.emit(f"fadd {llvm} 1.0, {x}"), code.emit(f"fsub {llvm} 1.0, {x}")
            logarithms = [_through_single(state, "llvm.log", part, scalar) for part in (above, below)]
            difference = code.emit(f"fsub {llvm} {', '.join(logarithms)}")
            return code.emit(f"fmul {llvm} {difference}, 0.5")
        case _:
            assert name == "tanh", "the table of rewritten functions has no other"
            return _tanh_as_in_tvm(state, x, scalar)


def _tanh_as_in_tvm(state: State, x: str, scalar: ScalarType) -> str:
    code, llvm = state.code, scalar.register
    double = code.emit(f"fmul {llvm} {x}, 2.0")
    falling = _through_single(state, "llvm.exp", code.emit(f"fmul {llvm} {x}, -2.0"), scalar)
    rising = _through_single(state, "llvm.exp", double, scalar)
    above = code.emit(f"fsub {llvm} 1.0, {falling}"), code.emit(f"fadd {llvm} 1.0, {falling}")
    below = code.emit(f"fsub {llvm} {rising}, 1.0"), code.emit(f"fadd {llvm} {rising}, 1.0")
    sides = [code.emit(f"fdiv {llvm} {', '.join(parts)}") for parts in (above, below)]
    is_positive = code.emit(f"fcmp oge {llvm} {x}, 0.0")
    return code.emit(f"select i1 {is_positive}, {llvm} {sides[0]}, {llvm} {sides[1]}")


def _through_single(state: State, symbol: str, value: str, scalar: ScalarType) -> str:
    inner = scalar if scalar.bits == 64 else SCALAR_TYPES["float32"]
    result = _call_symbol(state, f"{symbol}.f{inner.bits}", [convert(state, value, scalar, inner)], inner)
    return result if scalar.is_narrowed else convert(state, result, inner, scalar)


def _integer_call(state: State, name: str, value: str, scalar: ScalarType, more: str = "") -> str:
    llvm = scalar.register
    state.code.declare(f"declare {llvm} @llvm.{name}.{llvm}({llvm}{more.split(' false')[0]})")
    return state.code.emit(f"call {llvm} @llvm.{name}.{llvm}({llvm} {value}{more})")


def _classify(state: State, name: str, value: str, scalar: ScalarType) -> str:
    code, llvm = state.code, scalar.register
    if scalar.kind != "float":
        return "true" if name == "isfinite" else "false"
    if name == "isnan":
        return code.emit(f"fcmp uno {llvm} {value}, 0.0")
    magnitude = code.emit(f"call {llvm} @llvm.fabs.f{scalar.bits}({llvm} {value})")
    code.declare(f"declare {llvm} @llvm.fabs.f{scalar.bits}({llvm})")
    limit = _INFINITIES[(16, 32, 64).index(scalar.bits)]
    return code.emit(f"fcmp {'oeq' if name == 'isinf' else 'olt'} {llvm} {magnitude}, {limit}")


def _reinterpret(state: State, expr: Intrinsic, value: str, source: ScalarType) -> str:
    target = state.scalar_of(expr)
    if source.bits != target.bits:
        raise unsupported(f"`T.reinterpret` from {source.name} to {target.name}", expr, state.locate)
    if source.register == target.register:
        return value
    return state.code.emit(f"bitcast {source.register} {value} to {target.register}")
