"""Straight-line LLVM code as arithmetic: numbers, their bits and truths, one of each or a vector of them."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeVar

Scalar = Literal["float", "double"]
_SUFFIX = MappingProxyType({"float": "f32", "double": "f64"})
_WORD = MappingProxyType({"float": "i32", "double": "i64"})
# The bias of the exponent, and how many bits are behind it.
_LAYOUT = MappingProxyType({"float": (127, 23), "double": (1023, 52)})


class Body:
    """The instructions of a function while they are written.

    `symbol` is its name and `args` are its arguments of the type `scalar`; `lanes` is the length of its vectors, 1 for
    scalars. With `has_scaling` the processor multiplies by powers of two in one instruction. `other` computes what is
    seldom needed, from the same arguments.
    """

    def __init__(self, symbol: str, scalar: "Scalar", lanes: int, arity: int = 1, *, has_scaling: bool = False) -> None:
        self.symbol = symbol
        self.args = tuple(Real(self, f"%x{position}", scalar) for position in range(arity))
        self.other: Callable[..., Real] | None = None
        self.lanes = lanes
        self.has_scaling = has_scaling
        self.lines: list[str] = []
        self.declarations: list[str] = []
        self.tables: dict[str, str] = {}

    def typed(self, scalar: str) -> str:
        """Return the LLVM type of a value whose lanes are of the type `scalar`."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def literal(self, scalar: str, value: str) -> str:
        """Return a constant that is `value` in every lane."""
        return value if self.lanes == 1 else f"splat ({scalar} {value})"

    def emit(self, instruction: str) -> str:
        """Append an instruction and return the register with its result."""
        register = f"%v{len(self.lines)}"
        self.lines.append(f"  {register} = {instruction}")
        return register

    def scale(self, scalar: Scalar, value: str, exponent: str) -> str:
        """Append the call that multiplies by two to the power of a 32-bit `exponent`."""
        kind, count = self.typed(scalar), self.typed("i32")
        lanes = "" if self.lanes == 1 else f"v{self.lanes}"
        symbol = f"@llvm.ldexp.{lanes}{_SUFFIX[scalar]}.{lanes}i32"
        self.declarations.append(f"declare {kind} {symbol}({kind}, {count})")
        return self.emit(f"call {kind} {symbol}({kind} {value}, {count} {exponent})")

    def load(self, scalar: Scalar, table: str, place: str) -> str:
        """Append loads from a table, lane by lane, and return the register with what they give."""
        size = 8 if scalar == "double" else 4
        if self.lanes == 1:
            pointer = self.emit(f"getelementptr inbounds {scalar}, ptr {table}, i64 {place}")
            return self.emit(f"load {scalar}, ptr {pointer}, align {size}")
        pointers = self.emit(f"getelementptr inbounds {scalar}, ptr {table}, {self.typed('i64')} {place}")
        loaded = "poison"
        for lane in range(self.lanes):
            pointer = self.emit(f"extractelement {self.typed('ptr')} {pointers}, i64 {lane}")
            element = self.emit(f"load {scalar}, ptr {pointer}, align {size}")
            loaded = self.emit(f"insertelement {self.typed(scalar)} {loaded}, {scalar} {element}, i64 {lane}")
        return loaded

    def call(self, name: str, scalar: Scalar, *args: str) -> str:
        """Append a call of the LLVM intrinsic `name` on values of one type and return the register of its result."""
        kind = self.typed(scalar)
        lanes = "" if self.lanes == 1 else f"v{self.lanes}"
        symbol = f"@llvm.{name}.{lanes}{_SUFFIX[scalar]}"
        self.declarations.append(f"declare {kind} {symbol}({', '.join([kind] * len(args))})")
        return self.emit(f"call {kind} {symbol}({', '.join(f'{kind} {arg}' for arg in args)})")


@dataclass(frozen=True, slots=True)
class Truth:
    """A truth, with `&`, `|` and `~`."""

    body: Body
    register: str

    def __and__(self, other: "Truth") -> "Truth":
        return self._with("and", other.register)

    def __or__(self, other: "Truth") -> "Truth":
        return self._with("or", other.register)

    def __invert__(self) -> "Truth":
        return self._with("xor", self.body.literal("i1", "true"))

    def _with(self, operation: str, register: str) -> "Truth":
        kind = self.body.typed("i1")
        return Truth(self.body, self.body.emit(f"{operation} {kind} {self.register}, {register}"))


@dataclass(frozen=True, slots=True)
class Word:
    """The bits of a number as an integer; operations wrap around."""

    body: Body
    register: str
    scalar: str

    def __add__(self, other: "Word | int") -> "Word":
        return self._with("add", other)

    def __sub__(self, other: "Word | int") -> "Word":
        return self._with("sub", other)

    def __and__(self, other: "Word | int") -> "Word":
        return self._with("and", other)

    def __lshift__(self, count: int) -> "Word":
        return self._with("shl", count)

    def __rshift__(self, count: int) -> "Word":
        """Return the bits moved down; those of the sign follow."""
        return self._with("ashr", count)

    def __xor__(self, other: "Word") -> "Word":
        return self._with("xor", other)

    def is_not(self, other: int) -> Truth:
        """Compare with a constant."""
        return self._compare("ne", other)

    def is_among(self, count: int) -> Truth:
        """Tell whether this is at least zero and below a constant."""
        return self._compare("ult", count)

    def is_above(self, other: int) -> Truth:
        """Compare with a constant, as signed integers."""
        return self._compare("sgt", other)

    def constant(self, value: int) -> "Word":
        """Return a constant of this type."""
        kind, text = self.body.typed(self.scalar), self.body.literal(self.scalar, str(value))
        return replace(self, register=self.body.emit(f"add {kind} {text}, {self.body.literal(self.scalar, '0')}"))

    def narrow(self) -> "Word":
        """Return this integer with 32 bits."""
        if self.scalar == "i32":
            return self
        types = f"{self.body.typed(self.scalar)} {self.register} to {self.body.typed('i32')}"
        return Word(self.body, self.body.emit(f"trunc {types}"), "i32")

    def converted(self, scalar: Scalar) -> "Real":
        """Return this signed integer as a number."""
        types = f"{self.body.typed(self.scalar)} {self.register} to {self.body.typed(scalar)}"
        return Real(self.body, self.body.emit(f"sitofp {types}"), scalar)

    def number(self) -> "Real":
        """Return the number that has these bits."""
        scalar: Scalar = "double" if self.scalar == "i64" else "float"
        types = f"{self.body.typed(self.scalar)} {self.register} to {self.body.typed(scalar)}"
        return Real(self.body, self.body.emit(f"bitcast {types}"), scalar)

    def _with(self, operation: str, other: "Word | int") -> "Word":
        return replace(self, register=self.body.emit(f"{operation} {self._pair(other)}"))

    def _compare(self, predicate: str, other: int) -> Truth:
        return Truth(self.body, self.body.emit(f"icmp {predicate} {self._pair(other)}"))

    def _pair(self, other: "Word | int") -> str:
        right = self.body.literal(self.scalar, str(other)) if isinstance(other, int) else other.register
        return f"{self.body.typed(self.scalar)} {self.register}, {right}"


@dataclass(frozen=True, slots=True)
class Real:
    """A number; arithmetic rounds each operation to the nearest, and no flag lets LLVM change it."""

    body: Body
    register: str
    scalar: Scalar = "double"

    def __add__(self, other: "Real | float") -> "Real":
        return self._with("fadd", other)

    def __sub__(self, other: "Real | float") -> "Real":
        return self._with("fsub", other)

    def __rsub__(self, other: float) -> "Real":
        return self.number(other) - self

    def __mul__(self, other: "Real | float") -> "Real":
        return self._with("fmul", other)

    def __truediv__(self, other: "Real | float") -> "Real":
        return self._with("fdiv", other)

    def __rtruediv__(self, other: float) -> "Real":
        return self.number(other) / self

    def __neg__(self) -> "Real":
        return replace(self, register=self.body.emit(f"fneg {self.body.typed(self.scalar)} {self.register}"))

    def __abs__(self) -> "Real":
        return self._call("fabs")

    def number(self, value: float) -> "Real":
        """Return a constant of this type."""
        return replace(self, register=self._register_of(value))

    def root(self) -> "Real":
        """Return the square root, correctly rounded."""
        return self._call("sqrt")

    def truncated(self) -> "Real":
        """Return the integer part."""
        return self._call("trunc")

    def with_sign_of(self, other: "Real") -> "Real":
        """Return the magnitude of this with the sign of another number, also of a zero."""
        return self._call("copysign", other.register)

    def polynomial(self, coefficients: Sequence[float]) -> "Real":
        """Return the value of a polynomial at this number by Horner's rule; the constant term comes first."""
        *lower, highest = coefficients
        total = self.number(highest)
        for coefficient in reversed(lower):
            total = total.times_plus(self, coefficient)
        return total

    def times_plus(self, factor: "Real", term: "Real | float") -> "Real":
        """Return this times `factor` plus `term`, in one instruction and with one rounding where the processor can."""
        return self._call("fmuladd", factor.register, self._register_of(term))

    def lookup(self, name: str, table: Sequence[float], place: Word) -> "Real":
        """Return the element of a table at a place that surely is in it."""
        body, kind = self.body, f"[{len(table)} x {self.scalar}]"
        elements = ", ".join(f"{self.scalar} {literal(value)}" for value in table)
        body.tables[f"@{name}"] = f"@{name} = internal unnamed_addr constant {kind} [{elements}]"
        return replace(self, register=body.load(self.scalar, f"@{name}", place.register))

    def scaled(self, exponent: Word) -> "Real":
        """Return this number, which is near one, times two to the power `exponent`, rounded once."""
        if self.body.has_scaling:
            return replace(self, register=self.body.scale(self.scalar, self.register, exponent.narrow().register))
        # In two steps, as neither the greatest nor the least power of two is a number of its own.
        half = exponent >> 1
        bias, mantissa_bits = _LAYOUT[self.scalar]
        first, second = (((part + bias) << mantissa_bits).number() for part in (half, exponent - half))
        return self * first * second

    def bits(self) -> Word:
        """Return the bits of this number."""
        word = _WORD[self.scalar]
        types = f"{self.body.typed(self.scalar)} {self.register} to {self.body.typed(word)}"
        return Word(self.body, self.body.emit(f"bitcast {types}"), word)

    def to(self, scalar: Scalar) -> "Real":
        """Return this number in another type, rounded to the nearest if it is the narrower one."""
        if scalar == self.scalar:
            return self
        name = "fptrunc" if scalar == "float" else "fpext"
        types = f"{self.body.typed(self.scalar)} {self.register} to {self.body.typed(scalar)}"
        return Real(self.body, self.body.emit(f"{name} {types}"), scalar)

    def is_above(self, other: "Real | float") -> Truth:
        """Compare; false with a NaN."""
        return self._compare("ogt", other)

    def is_below(self, other: "Real | float") -> Truth:
        """Compare; false with a NaN."""
        return self._compare("olt", other)

    def equals(self, other: "Real | float") -> Truth:
        """Compare; false with a NaN."""
        return self._compare("oeq", other)

    def is_nan(self) -> Truth:
        """Tell whether this is no number."""
        return self._compare("uno", self)

    def at_most(self, limit: float) -> "Real":
        """Return this, or `limit` if it is greater; a NaN stays."""
        return choose(self.is_above(limit), self.number(limit), self)

    def at_least(self, limit: float) -> "Real":
        """Return this, or `limit` if it is less; a NaN stays."""
        return choose(self.is_below(limit), self.number(limit), self)

    def _register_of(self, other: "Real | float") -> str:
        if isinstance(other, Real):
            return other.register
        value = float(other) if self.scalar == "double" else struct.unpack("f", struct.pack("f", other))[0]
        return self.body.literal(self.scalar, literal(value))

    def _with(self, operation: str, other: "Real | float") -> "Real":
        operands = f"{self.body.typed(self.scalar)} {self.register}, {self._register_of(other)}"
        return replace(self, register=self.body.emit(f"{operation} {operands}"))

    def _compare(self, predicate: str, other: "Real | float") -> Truth:
        operands = f"{self.body.typed(self.scalar)} {self.register}, {self._register_of(other)}"
        return Truth(self.body, self.body.emit(f"fcmp {predicate} {operands}"))

    def _call(self, name: str, *others: str) -> "Real":
        return replace(self, register=self.body.call(name, self.scalar, self.register, *others))


Value = TypeVar("Value", Real, Word)


def literal(value: float) -> str:
    """Print a number as LLVM reads it."""
    return f"0x{struct.pack('>d', value).hex().upper()}"


def choose(condition: Truth, if_true: Value, if_false: Value) -> Value:
    """Return one of two values, lane by lane."""
    body, kind = condition.body, condition.body.typed(if_true.scalar)
    operands = f"{kind} {if_true.register}, {kind} {if_false.register}"
    return replace(if_true, register=body.emit(f"select {body.typed('i1')} {condition.register}, {operands}"))


def mostly(condition: Truth, usual: Real, otherwise: Callable[..., Real]) -> Real:
    """Return one of two values, lane by lane; the second is not computed if `condition` holds in all lanes.

    It is computed from the arguments by a function of its own, once in a body. A lane gets the same bits whatever the
    others hold: which of the two it takes depends on its own condition alone.
    """
    body = condition.body
    assert body.other is None, "a function has one other way"
    body.other = otherwise
    holds = condition.register
    if body.lanes > 1:
        mask = body.emit(f"bitcast {body.typed('i1')} {holds} to i{body.lanes}")
        holds = body.emit(f"icmp eq i{body.lanes} {mask}, -1")
    kind = body.typed(usual.scalar)
    body.lines += (f"  br i1 {holds}, label %usual, label %other", "other:")
    args = ", ".join(f"{kind} {arg.register}" for arg in body.args)
    value = replace(usual, register=body.emit(f"call {kind} {body.symbol}.other({args})"))
    chosen = choose(condition, usual, value)
    body.lines += ("  br label %usual", "usual:")
    register = body.emit(f"phi {kind} [ {usual.register}, %entry ], [ {chosen.register}, %other ]")
    return replace(usual, register=register)
