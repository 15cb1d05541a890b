"""Which operators compute in float16, and which variables are used by nothing else."""

import tomllib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from relax_core.ir.expr import (
    Call,
    DataflowBlock,
    Expr,
    Function,
    Op,
    SeqExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.substitute import free_vars

Policy = Literal["always", "follow", "never"]
Float = Literal["float16", "float32"]
Need: TypeAlias = "Float | tuple[Need, ...] | None"
"""The dtype in which a value is used, for each tensor of a tuple; `None` where it is not used."""

_POLICIES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ALWAYS, FOLLOW = frozenset(_POLICIES["always"]), frozenset(_POLICIES["follow"])


def policy_of(name: str) -> Policy:
    """Return the policy of an operator by its full name."""
    short = name.removeprefix("relax.")
    return "always" if short in ALWAYS else "follow" if short in FOLLOW else "never"


def is_tensors(type_: Type | None) -> bool:
    """Tell whether a value is a tensor, or a tuple of such."""
    match type_:
        case TensorType():
            return True
        case TupleType(fields=fields):
            return all(map(is_tensors, fields))
        case _:
            return False


class Needs:
    """In which dtypes the values of a function are used by the operators of its dataflow blocks, and returned.

    What only operators of the policy "always" use is as precise in float16 as they are.
    """

    def __init__(self, function: Function, type_of: Mapping[Node, Type]) -> None:
        self._type_of = type_of
        self._need_of: dict[Var, Need] = {}
        nodes = list(preorder(function))
        for node in nodes:
            if isinstance(node, SeqExpr):
                self._require(node.body, "float32")
        # A tuple is used as what is taken out of it, so that uses come before definitions.
        blocks = (node.bindings for node in nodes if isinstance(node, DataflowBlock))
        for binding in reversed(list(chain.from_iterable(blocks))):
            if isinstance(binding, VarBinding):
                self._binding(binding)
            else:
                self._all(binding.value)

    def of(self, var: Var) -> Need:
        """Return what is needed of a variable."""
        return self._need_of.get(var)

    def _binding(self, binding: VarBinding) -> None:
        match binding.value:
            case Call(op=Op(name=name), args=args):
                kind: Float = "float16" if policy_of(name) == "always" else "float32"
                for item in args:
                    self._require(item, kind)
            case Tuple(fields=fields):
                for item, part in zip(fields, _parts(self.of(binding.var), len(fields)), strict=True):
                    self._merge(item, part)
            case TupleGetItem(tuple_value=value, index=index):
                type_ = self._type_of.get(value)
                count = len(type_.fields) if isinstance(type_, TupleType) else index + 1
                need = self.of(binding.var)
                parts: list[Need] = [need if k == index else None for k in range(count)]
                self._merge(value, tuple(parts))
            case value:
                self._all(value)

    def _all(self, value: Expr) -> None:
        for var in free_vars(value):
            self._require(var, "float32")

    def _require(self, expr: Expr, kind: Float) -> None:
        if is_tensors(self._type_of.get(expr)):
            self._merge(expr, kind)

    def _merge(self, expr: Expr, need: Need) -> None:
        match expr:
            case Var():
                self._need_of[expr] = _merged(self._need_of[expr], need) if expr in self._need_of else need
            case Tuple(fields=fields):
                for item, part in zip(fields, _parts(need, len(fields)), strict=True):
                    self._merge(item, part)
            case _:
                pass


def _merged(a: Need, b: Need) -> Need:
    """Join two uses. A field that one of them leaves out is not narrow: a tuple of several users is not rebuilt."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        count = max(len(item) for item in (a, b) if isinstance(item, tuple))
        pairs = zip(_parts(a, count), _parts(b, count), strict=True)
        merged: list[Need] = [_merged(*pair) for pair in pairs]
        return tuple(merged)
    return a if a == b else "float32"


def _parts(need: Need, count: int) -> tuple[Need, ...]:
    parts: list[Need] = list(need) if isinstance(need, tuple) else [need] * count
    return tuple(parts)
