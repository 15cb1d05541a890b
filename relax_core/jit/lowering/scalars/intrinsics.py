"""Scalar intrinsics: which LLVM intrinsic or function of libm computes each, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from relax_core.jit.lowering.scalars.types import ScalarType


@dataclass(frozen=True, slots=True)
class Function:
    """How an intrinsic of floats is called.

    "llvm": the LLVM intrinsic `llvm.<target>`; "libm": the C function `target`, with suffix `f` for float32.
    """

    how: Literal["llvm", "libm"]
    target: str
    arity: int = 1


def _table(how: Literal["llvm", "libm"], arity: int, names: str) -> dict[str, Function]:
    return {name: Function(how, name, arity) for name in names.split()}


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        **_table("llvm", 1, "exp exp2 exp10 log log2 log10 sqrt sin cos tan asin acos atan sinh cosh tanh"),
        **_table("llvm", 1, "fabs floor ceil trunc nearbyint"),
        **_table("llvm", 2, "pow atan2 copysign"),
        **_table("llvm", 3, "fma"),
        **_table("libm", 1, "erf erfc expm1 log1p cbrt asinh acosh atanh lgamma tgamma"),
        **_table("libm", 2, "fmod hypot nextafter"),
        "abs": Function("llvm", "fabs"),
        "rint": Function("llvm", "nearbyint"),
        "power": Function("llvm", "pow", 2),
        # TVM rounds halves to even where C's function of that name goes away from zero.
        "round": Function("llvm", "roundeven"),
        "round_half_away": Function("llvm", "round"),
    }
)

# Computed by `scalar.py` from other operations: their number of arguments.
COMPOSED: Mapping[str, int] = MappingProxyType(
    {
        "sigmoid": 1,
        "rsqrt": 1,
        "isnan": 1,
        "isinf": 1,
        "isfinite": 1,
        "likely": 1,
        "popcount": 1,
        "clz": 1,
        "reinterpret": 1,
        "infinity": 0,
    }
)

# What TVM's `llvm` target makes of other functions, with other results than C's library in the last places.
REWRITTEN = frozenset(("tan", "tanh", "atanh"))

# Calls of what may do anything: of another prim func, or of a packed function.
PACKED_CALLS = frozenset(("call_packed", "tvm_call_packed", "call_cpacked", "tvm_call_cpacked"))
CALLS = frozenset(("global", *PACKED_CALLS))

# Calls of a function by its name in C or LLVM, and how many arguments stand before the name.
EXTERN_CALLS: Mapping[str, int] = MappingProxyType(
    {"call_extern": 0, "call_pure_extern": 0, "call_llvm_intrin": 0, "call_llvm_pure_intrin": 0}
)
_SINGLE, _DOUBLE = "float32", "float64"
# What each name of C's library computes, and on which dtype.
C_FUNCTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {f"{item.target}{suffix}": (name, dtype) for suffix, dtype in (("f", _SINGLE), ("", _DOUBLE))
     for name, item in FUNCTIONS.items()}
)  # fmt: skip
LLVM_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **{f"llvm.{item.target}": name for name, item in FUNCTIONS.items() if item.how == "llvm"},
        "llvm.ctpop": "popcount",
        # One rounding or two, as the code generator likes; one is what its own target does.
        "llvm.fmuladd": "fma",
    }
)

EXTREMA: Mapping[str, tuple[Literal["<", ">"], str]] = MappingProxyType(
    {
        "fmaxf": (">", _SINGLE), "fmax": (">", _DOUBLE), "fminf": ("<", _SINGLE), "fmin": ("<", _DOUBLE),
        "llvm.maxnum": (">", ""), "llvm.minnum": ("<", ""),
    }
)  # fmt: skip
"""Functions of two floats, by the comparison that decides, and the dtype of both; LLVM's have that of the call."""

ON_INTEGERS = frozenset(("abs", "fabs", "likely", "popcount", "clz", "reinterpret"))

_SUFFIX = MappingProxyType({"float32": "f", "float64": ""})


def symbol_of(function: Function, scalar: ScalarType) -> str:
    """Return the name to call for arguments of `scalar`, which is float32 or float64 for libm."""
    if function.how == "llvm":
        return f"llvm.{function.target}.f{scalar.bits}"
    return function.target + _SUFFIX[scalar.name]


def arity_of(name: str) -> int | None:
    """Return how many arguments the intrinsic takes, or `None` if there is none of that name."""
    function = FUNCTIONS.get(name)
    return function.arity if function is not None else COMPOSED.get(name)
