"""What is handed to a backend with each function of a target: operators, inputs, constants and outputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Constant, Expr, Function, Op, SeqExpr, TensorType, TupleType, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder


@dataclass(frozen=True, slots=True, eq=False)
class Handed:
    """A value that crosses to a backend or back, or a constant that goes there once."""

    name: str
    type: Type | None


@dataclass(frozen=True, slots=True, eq=False)
class HandedPart:
    """A binding of a function for a backend: operators that it calls, those of the composite that it calls if any."""

    composite: str
    value: Expr
    operators: tuple[Call, ...]


@dataclass(frozen=True, slots=True, eq=False)
class HandOver:
    """A function for the backend `target`, and all that goes there with it.

    `parts` are in the order of evaluation. Constants are named as in TVM: `<function>_<target>_const_<number>`.
    """

    name: str
    target: str
    function: Function
    parts: tuple[HandedPart, ...]
    inputs: tuple[Handed, ...]
    constants: tuple[Handed, ...]
    outputs: tuple[Handed, ...]

    @property
    def operators(self) -> tuple[Call, ...]:
        """The operators that it calls, those of composites once for each call of the composite."""
        return tuple(call for part in self.parts for call in part.operators)

    @property
    def composites(self) -> tuple[str, ...]:
        """The composites that it calls."""
        return tuple(part.composite for part in self.parts if part.composite)


def hand_overs(module: IRModule, types: Mapping[Node, Type]) -> Iterator[HandOver]:
    """Yield what is handed over with each function of `module` that belongs to a target, in order."""
    for var, function in module.relax_functions:
        target = attr(function.attrs, "Codegen")
        if isinstance(target, str):
            yield hand_over(var.name, target, function, types)


def hand_over(name: str, target: str, function: Function, types: Mapping[Node, Type]) -> HandOver:
    """Return what is handed over with a function; `types` are those of its nodes."""
    parts = tuple(_in_order(function))
    constants = dict.fromkeys(item for item in preorder(function) if isinstance(item, Constant))
    results = function.ret_type if function.ret_type is not None else types.get(function.body)
    fields = results.fields if isinstance(results, TupleType) else (results,)
    return HandOver(
        name,
        target,
        function,
        tuple(part for part in parts if part.operators),
        tuple(Handed(item.name, item.annotation) for item in function.params),
        tuple(Handed(f"{name}_{target}_const_{k}", types.get(item)) for k, item in enumerate(constants)),
        tuple(Handed(str(place), item) for place, item in enumerate(fields)),
    )


def _in_order(function: Function) -> Iterator[HandedPart]:
    """Yield what a function computes in the order of its bindings; a composite for each of its calls, or as a whole."""
    local: dict[Node, Function] = {}
    body, own = function.body, attr(function.attrs, "Composite")
    if isinstance(own, str):
        yield HandedPart(own, body, _operators(body))
        return
    for block in body.blocks if isinstance(body, SeqExpr) else ():
        for item in block.bindings:
            match item.value:
                case Function() as composite:
                    local[item.var] = composite
                case Call(op=Var() as callee) as call if callee in local:
                    composite = attr(local[callee].attrs, "Composite")
                    yield HandedPart(str(composite or ""), call, _operators(local[callee]))
                case value:
                    yield HandedPart("", value, _operators(value))


def _operators(root: Node) -> tuple[Call, ...]:
    return tuple(item for item in preorder(root) if isinstance(item, Call) and isinstance(item.op, Op))


def has_sizes(type_: Type | None) -> bool:
    """Tell whether a caller can allocate a result of this type: tensors of known shape and dtype, or tuples of them."""
    match type_:
        case TensorType(shape=shape, dtype=dtype):
            return shape is not None and dtype is not None
        case TupleType(fields=fields):
            return all(map(has_sizes, fields))
        case _:
            return False
