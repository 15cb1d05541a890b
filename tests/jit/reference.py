"""A definitional interpreter of prim funcs: slow, plain, and checked at every access."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.ir import tir
from relax_core.ir.prim import Binary, Cast, FloatImm, IntImm, Intrinsic, LetExpr, PrimExpr, PrimVar, Select, Unary

Array = npt.NDArray[Any]


class OutOfRange(Exception):
    """An access outside its buffer: the access, the dimension, the index."""

    def __init__(self, access: tir.BufferLoad | tir.BufferStore, dimension: int, index: int) -> None:
        self.access, self.dimension, self.index = access, dimension, index
        super().__init__(f"{dimension}: {index}")


def wrapped(value: int, dtype: str) -> int:
    """Bring an integer into its dtype as machines do."""
    bits = int("".join(ch for ch in dtype if ch.isdigit()))
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.startswith("int") and value >> (bits - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "truncdiv": truncated,
    "truncmod": lambda a, b: a - truncated(a, b) * b,
    "min": min,
    "max": max,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}


class Reference:
    """Runs one call."""

    def __init__(self, function: tir.PrimFunc, arrays: Mapping[str, Array]) -> None:
        self.arrays = {param.buffer: arrays[param.buffer.name] for param in function.buffers}
        self.values: dict[PrimVar, Any] = {}
        for buffer, array in self.arrays.items():
            for dim, extent in zip(buffer.shape, array.shape, strict=True):
                if isinstance(dim, PrimVar):
                    self.values[dim] = extent
        self.run(function.body)

    def run(self, stmt: tir.Stmt) -> None:
        match stmt:
            case tir.SeqStmt(stmts=stmts):
                for item in stmts:
                    self.run(item)
            case tir.For(var=var, start=start, extent=extent, body=body):
                first = self.eval(start)
                for value in range(first, first + self.eval(extent)):
                    self.values[var] = value
                    self.run(body)
            case tir.While(condition=condition, body=body):
                while self.eval(condition):
                    self.run(body)
            case tir.IfThenElse(condition=condition, then_body=a, else_body=b):
                chosen = a if self.eval(condition) else b
                if chosen is not None:
                    self.run(chosen)
            case tir.LetStmt(var=var, value=value, body=body):
                self.values[var] = self.eval(value)
                self.run(body)
            case tir.BufferStore(buffer=buffer, value=value):
                place = self.place(stmt)
                self.arrays[buffer][place] = self.eval(value)
            case tir.Block():
                self.block(stmt)
            case tir.DeclBuffer(buffer=buffer, body=body) if stmt.pointer is None:
                self.arrays[buffer] = np.zeros([self.eval(dim) for dim in buffer.shape], buffer.dtype)
                self.run(body)
            case _:
                raise NotImplementedError(type(stmt).__name__)

    def block(self, block: tir.Block) -> None:
        for item in block.iter_vars:
            self.values[item.var] = self.eval(item.binding)
        for buffer in block.alloc_buffers:
            self.arrays.setdefault(buffer, np.zeros([self.eval(dim) for dim in buffer.shape], buffer.dtype))
        if block.predicate is not None and not self.eval(block.predicate):
            return
        reductions = [item.var for item in block.iter_vars if item.kind == "reduce"]
        if block.init is not None and not any(self.values[var] for var in reductions):
            self.run(block.init)
        self.run(block.body)

    def place(self, access: tir.BufferLoad | tir.BufferStore) -> tuple[int, ...]:
        array = self.arrays[access.buffer]
        found: list[int] = []
        for dimension, item in enumerate(access.indices):
            value = self.eval(item)
            if not 0 <= value < array.shape[dimension]:
                raise OutOfRange(access, dimension, value)
            found.append(int(value))
        return tuple(found)

    def eval(self, expr: PrimExpr) -> Any:
        match expr:
            case IntImm(value=value) | FloatImm(value=value):
                return np.dtype(expr.dtype).type(value) if expr.dtype.startswith("float") else value
            case PrimVar():
                return self.values[expr]
            case tir.BufferLoad(buffer=buffer):
                value = self.arrays[buffer][self.place(expr)]
                return value if buffer.dtype.startswith("float") else int(value)
            case Binary(op="and", a=a, b=b):
                return bool(self.eval(a)) and bool(self.eval(b))
            case Binary(op="or", a=a, b=b):
                return bool(self.eval(a)) or bool(self.eval(b))
            case Binary(op=op, a=a, b=b, dtype=dtype):
                return self.fit(OPERATIONS[op](self.eval(a), self.eval(b)), dtype)
            case Unary(op="-", a=a, dtype=dtype):
                return self.fit(-self.eval(a), dtype)
            case Unary(op="not", a=a):
                return not self.eval(a)
            case Unary(op="~", a=a, dtype=dtype):
                return self.fit(~self.eval(a), dtype)
            case Cast(value=value, dtype=dtype):
                inner = self.eval(value)
                return self.fit(inner if dtype.startswith("float") else math.trunc(inner), dtype)
            case LetExpr(var=var, value=value, body=body):
                self.values[var] = self.eval(value)
                return self.eval(body)
            case Intrinsic(name="exp", args=(a,), dtype=dtype):
                return self.fit(np.exp(self.eval(a)), dtype)
            case Select(condition=condition, true_value=a, false_value=b):
                return self.eval(a if self.eval(condition) else b)
            case _:
                raise NotImplementedError(type(expr).__name__)

    def fit(self, value: Any, dtype: str) -> Any:
        if dtype == "bool":
            return bool(value)
        return np.dtype(dtype).type(value) if dtype.startswith("float") else wrapped(int(value), dtype)
