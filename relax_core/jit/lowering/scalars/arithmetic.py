"""Binary operations, comparisons and conversions of scalars."""

import struct
from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ir.integer.interval import Interval
from relax_core.ir.prim import Binary, BinaryKind, Cast
from relax_core.jit.lowering.checks import Site, unsupported
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.state import State, is_host_function

_FLOAT = SCALAR_TYPES["float32"]
_COMPARISON_NAMES: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "==": ("eq", "eq", "oeq"),
        "!=": ("ne", "ne", "une"),
        "<": ("slt", "ult", "olt"),
        "<=": ("sle", "ule", "ole"),
        ">": ("sgt", "ugt", "ogt"),
        ">=": ("sge", "uge", "oge"),
    }
)
_FLOAT_NAMES = MappingProxyType({"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv", "truncdiv": "fdiv"})
_INTEGER_NAMES = MappingProxyType({"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"})
WORD_BITS = 64
_DIVISIONS = ("/", "//", "%", "truncdiv", "truncmod")


def compare(state: State, op: BinaryKind, a: str, b: str, scalar: ScalarType) -> str:
    """Emit a comparison; one with a NaN is false, except `!=`."""
    return state.code.emit(f"{comparison(op, scalar)} {scalar.register} {a}, {b}")


def comparison(op: BinaryKind, scalar: ScalarType) -> str:
    """Return the instruction that compares operands of a dtype."""
    signed, unsigned, floating = _COMPARISON_NAMES[op]
    if scalar.kind == "float":
        return f"fcmp {floating}"
    return f"icmp {signed if scalar.kind == 'int' else unsigned}"


def float_binary(state: State, expr: Binary, a: str, b: str) -> str:
    """Emit an operation of floats, in the order of the text.

    No fast-math flag is set, except that the "fast" mode lets a product and a sum become one operation.
    """
    scalar = state.scalar_of(expr)
    code, llvm = state.code, scalar.register
    if expr.op in _FLOAT_NAMES:
        flag = "contract " if state.options.mode == "fast" and expr.op in ("+", "-", "*") else ""
        return code.emit(f"{_FLOAT_NAMES[expr.op]} {flag}{llvm} {a}, {b}")
    match expr.op:
        case "min" | "max":
            return _choose(state, expr.op, a, b, scalar)
        case "//":
            quotient = code.emit(f"fdiv {llvm} {a}, {b}")
            return _floor(state, quotient, scalar)
        case "%":
            quotient = _floor(state, code.emit(f"fdiv {llvm} {a}, {b}"), scalar)
            return code.emit(f"fsub {llvm} {a}, {code.emit(f'fmul {llvm} {quotient}, {b}')}")
        case "truncmod":
            return code.emit(f"frem {llvm} {a}, {b}")
        case _:
            raise unsupported(f"`{expr.op}` of {scalar.name}", expr, state.locate)


def integer_binary(state: State, expr: Binary, a: str, b: str) -> str:
    """Emit an operation of integers; they wrap around, except that a division by zero stops the kernel."""
    scalar = state.scalar_of(expr)
    code, llvm = state.code, scalar.register
    if expr.op in _INTEGER_NAMES:
        flag = ""
        if _may_overflow(state, expr):
            return _without_overflow(state, expr, a, b)
        if expr.op in ("+", "-", "*") and scalar.kind == "int" and state.bounds.is_exact(expr):
            flag = "nsw "
        return code.emit(f"{_INTEGER_NAMES[expr.op]} {flag}{llvm} {a}, {b}")
    match expr.op:
        case "min" | "max":
            return _choose(state, expr.op, a, b, scalar)
        case "<<" | ">>":
            if not _is_shift_safe(state, expr, scalar):
                _check_shift(state, expr, b, scalar)
            name = "shl" if expr.op == "<<" else "ashr" if scalar.kind == "int" else "lshr"
            return code.emit(f"{name} {llvm} {a}, {b}")
        case _ if expr.op in _DIVISIONS:
            if 0 in state.bounds.interval(expr.b):
                nonzero = code.emit(f"icmp ne {llvm} {b}, 0")
                state.require(nonzero, Site("zero", expr))
            return _divide(state, expr, a, b)
        case _:
            raise unsupported(f"`{expr.op}` of {scalar.name}", expr, state.locate)


def is_safe_binary(state: State, expr: Binary) -> bool:
    """Tell whether the operation surely does not stop the kernel."""
    scalar = state.scalar_of(expr.a)
    if scalar.kind == "float":
        return True
    if expr.op in _DIVISIONS:
        return 0 not in state.bounds.interval(expr.b)
    if _may_overflow(state, expr):
        return False
    return expr.op not in ("<<", ">>") or _is_shift_safe(state, expr, scalar)


def _may_overflow(state: State, expr: Binary) -> bool:
    """Tell whether an operation is one of counts, which may not wrap around as all others do."""
    return state.position.is_counting and expr.op in ("+", "-", "*") and not state.bounds.is_exact(expr)


def _without_overflow(state: State, expr: Binary, a: str, b: str) -> str:
    """Emit an operation of integers that stops the kernel where the result does not fit."""
    code, scalar = state.code, state.scalar_of(expr)
    llvm = scalar.register
    name = f"@llvm.{'s' if scalar.kind == 'int' else 'u'}{_INTEGER_NAMES[expr.op]}.with.overflow.{llvm}"
    code.declare(f"declare {{ {llvm}, i1 }} {name}({llvm}, {llvm})")
    found = code.emit(f"call {{ {llvm}, i1 }} {name}({llvm} {a}, {llvm} {b})")
    value, wraps = (code.emit(f"extractvalue {{ {llvm}, i1 }} {found}, {at}") for at in (0, 1))
    state.require(code.emit(f"xor i1 {wraps}, true"), Site("overflow", expr, hint=scalar.name))
    return value


def may_lose_count(state: State, expr: Cast) -> bool:
    """Tell whether a conversion is one of counts to a dtype that may not hold them."""
    if not state.position.is_counting:
        return False
    source, target = state.scalar_of(expr.value), state.scalar_of(expr)
    if not {source.kind, target.kind} <= {"int", "uint"}:
        return False
    if source.bits == target.bits == WORD_BITS and is_host_function(state.function):
        # A slot of the heap of shapes holds the bits of a scalar.
        return False
    return not state.bounds.interval(expr.value).is_within(Interval(target.low, target.high))


def narrowed_count(state: State, expr: Cast, value: str) -> str:
    """Emit the conversion of a count, which stops the kernel where the other dtype does not hold it."""
    code, source, target = state.code, state.scalar_of(expr.value), state.scalar_of(expr)
    wide = state.widen(value, source)
    limits = [(test, limit) for test, limit in (("sge", target.low), ("sle", target.high)) if abs(limit) < 1 << 63]
    if source.name == "uint64" and target.kind != "bool":
        # As a number with a sign, what is too large for one is negative.
        limits = [("sge", 0), *limits]
    for test, limit in limits:
        fits = code.emit(f"icmp {test} i64 {wide}, {limit}")
        state.require(fits, Site("overflow", expr, hint=target.name))
    return convert(state, value, source, target)


def convert(state: State, value: str, source: ScalarType, target: ScalarType) -> str:
    """Emit a conversion; floats to integers truncate, and what does not fit becomes the nearest integer, NaN 0."""
    code = state.code
    if source == target or (
        source.kind in ("int", "uint") and target.kind in ("int", "uint") and source.bits == target.bits
    ):
        return value
    if target.is_narrowed:
        is_double = source.kind == "float" and source.bits == 64
        return rounded(state, _rounded_to_odd(state, value) if is_double else convert(state, value, source, _FLOAT))
    match source.kind, target.kind:
        case "float", "float" if source.register == target.register:
            return value
        case "float", "float" if (source.bits, target.bits) == (64, 16):
            return code.emit(f"fptrunc float {_rounded_to_odd(state, value)} to half")
        case "float", "float":
            name = "fpext" if source.bits < target.bits else "fptrunc"
            return code.emit(f"{name} {source.register} {value} to {target.register}")
        case "float", "bool":
            return code.emit(f"fcmp une {source.register} {value}, 0.0")
        case "float", _:
            return _saturated(state, value, source, target)
        case _, "float":
            name = "sitofp" if source.kind == "int" else "uitofp"
            return code.emit(f"{name} {source.register} {value} to {target.register}")
        case _, "bool":
            return code.emit(f"icmp ne {source.register} {value}, 0")
        case _ if source.bits > target.bits:
            return code.emit(f"trunc {source.register} {value} to {target.register}")
        case _:
            name = "sext" if source.kind == "int" else "zext"
            return code.emit(f"{name} {source.register} {value} to {target.register}")


def _saturated(state: State, value: str, source: ScalarType, target: ScalarType) -> str:
    """Emit the conversion of a float to an integer from comparisons, which are vectorised, unlike LLVM's `sat`."""
    if source.bits == 16:
        # The limits of wide integers are no numbers in half precision.
        value, source = convert(state, value, source, _FLOAT), _FLOAT
    code, llvm, kind = state.code, source.register, target.register
    low, high = (f"0x{struct.pack('>d', float(limit)).hex().upper()}" for limit in (target.low, target.high + 1))
    is_above, is_below = (code.emit(f"fcmp {test} {llvm} {value}, {at}") for test, at in (("oge", high), ("olt", low)))
    is_low_enough, is_high_enough = (
        code.emit(f"fcmp {test} {llvm} {value}, {at}") for test, at in (("olt", high), ("oge", low))
    )
    is_inside = code.emit(f"and i1 {is_low_enough}, {is_high_enough}")
    inside = code.emit(f"select i1 {is_inside}, {llvm} {value}, {llvm} 0.0")
    name = "fptosi" if target.kind == "int" else "fptoui"
    made = code.emit(f"{name} {llvm} {inside} to {kind}")
    most = -1 if target.kind == "uint" else target.high
    made = code.emit(f"select i1 {is_above}, {kind} {most}, {kind} {made}")
    return code.emit(f"select i1 {is_below}, {kind} {target.low}, {kind} {made}")


def rounded(state: State, value: str) -> str:
    """Emit the rounding of a float to the nearest bfloat16, to even between two; the result is a float."""
    code = state.code
    bits = code.emit(f"bitcast float {value} to i32")
    is_odd = code.emit(f"and i32 {code.emit(f'lshr i32 {bits}, 16')}, 1")
    above = code.emit(f"add i32 {code.emit(f'add i32 {bits}, 32767')}, {is_odd}")
    # A NaN stays one: rounding could carry its bits into those of infinity.
    is_nan = code.emit(f"fcmp uno float {value}, {value}")
    kept = code.emit(f"select i1 {is_nan}, i32 {code.emit(f'or i32 {bits}, 4194304')}, i32 {above}")
    return code.emit(f"bitcast i32 {code.emit(f'and i32 {kept}, -65536')} to float")


def _rounded_to_odd(state: State, value: str) -> str:
    """Emit the conversion of a double to a float that a further rounding to half does not round twice.

    Processors have no direct conversion. Rounded towards zero, with the last bit set if that was inexact, the
    float still tells on which side of a half's midpoint the double lies.
    """
    code = state.code
    code.declare("declare double @llvm.fabs.f64(double)")
    nearest = code.emit(f"fptrunc double {value} to float")
    back = code.emit(f"fpext float {nearest} to double")
    is_inexact = code.emit(f"fcmp une double {back}, {value}")
    sizes = [code.emit(f"call double @llvm.fabs.f64(double {item})") for item in (back, value)]
    is_beyond = code.emit(f"zext i1 {code.emit(f'fcmp ogt double {sizes[0]}, {sizes[1]}')} to i32")
    towards_zero = code.emit(f"sub i32 {code.emit(f'bitcast float {nearest} to i32')}, {is_beyond}")
    odd = code.emit(f"or i32 {towards_zero}, {code.emit(f'zext i1 {is_inexact} to i32')}")
    return code.emit(f"bitcast i32 {odd} to float")


def _choose(state: State, op: BinaryKind, a: str, b: str, scalar: ScalarType) -> str:
    """Emit `min` or `max` as a comparison and a choice: with a NaN the result is `b`, as in TVM."""
    test = compare(state, "<" if op == "min" else ">", a, b, scalar)
    return state.code.emit(f"select i1 {test}, {scalar.register} {a}, {scalar.register} {b}")


def _floor(state: State, value: str, scalar: ScalarType) -> str:
    function = f"@llvm.floor.f{scalar.bits}"
    state.code.declare(f"declare {scalar.register} {function}({scalar.register})")
    return state.code.emit(f"call {scalar.register} {function}({scalar.register} {value})")


def _is_shift_safe(state: State, expr: Binary, scalar: ScalarType) -> bool:
    return state.bounds.interval(expr.b).is_within(Interval(0, scalar.bits - 1))


def _check_shift(state: State, expr: Binary, amount: str, scalar: ScalarType) -> None:
    condition = state.code.emit(f"icmp ult {scalar.register} {amount}, {scalar.bits}")
    wide = state.widen(amount, scalar)
    state.require(condition, Site("shift", expr, ("", "")), (wide, str(scalar.bits)))


def _divide(state: State, expr: Binary, a: str, b: str) -> str:
    """Emit a division or remainder by `b`, which is not zero; `//` and `%` round towards minus infinity."""
    code, scalar = state.code, state.scalar_of(expr)
    llvm, is_remainder = scalar.register, expr.op in ("%", "truncmod")
    x, y = state.bounds.interval(expr.a), state.bounds.interval(expr.b)
    if scalar.kind != "int" or (x.low >= 0 and y.low >= 0):
        return code.emit(f"{'urem' if is_remainder else 'udiv'} {llvm} {a}, {b}")
    if -1 in y and scalar.low in x:
        # The least integer divided by -1 would trap: divide by 1 instead and negate.
        is_minus_one = code.emit(f"icmp eq {llvm} {b}, -1")
        divisor = code.emit(f"select i1 {is_minus_one}, {llvm} 1, {llvm} {b}")
        plain = code.emit(f"sdiv {llvm} {a}, {divisor}")
        negated = code.emit(f"sub {llvm} 0, {a}")
        quotient = code.emit(f"select i1 {is_minus_one}, {llvm} {negated}, {llvm} {plain}")
        remainder = code.emit(f"srem {llvm} {a}, {divisor}")
    else:
        quotient = code.emit(f"sdiv {llvm} {a}, {b}")
        remainder = code.emit(f"srem {llvm} {a}, {b}")
    if expr.op in ("/", "truncdiv", "truncmod"):
        return remainder if is_remainder else quotient
    is_inexact = code.emit(f"icmp ne {llvm} {remainder}, 0")
    signs = code.emit(f"xor {llvm} {remainder}, {b}")
    has_other_sign = code.emit(f"icmp slt {llvm} {signs}, 0")
    must_adjust = code.emit(f"and i1 {is_inexact}, {has_other_sign}")
    if is_remainder:
        adjusted = code.emit(f"add {llvm} {remainder}, {b}")
        return code.emit(f"select i1 {must_adjust}, {llvm} {adjusted}, {llvm} {remainder}")
    adjusted = code.emit(f"sub {llvm} {quotient}, 1")
    return code.emit(f"select i1 {must_adjust}, {llvm} {adjusted}, {llvm} {quotient}")
