"""What is handed to a backend with each function of a target: operators, inputs, constants and outputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Constant, Function, Op, TensorType, TupleType, Type
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder


@dataclass(frozen=True, slots=True, eq=False)
class Handed:
    """A value that crosses to a backend or back, or a constant that goes there once."""

    name: str
    type: Type | None


@dataclass(frozen=True, slots=True, eq=False)
class HandOver:
    """A function for the backend `target`, and all that goes there with it.

    `operators` are those that it calls, those of its composites included. Constants are named as in TVM:
    `<function>_<target>_const_<number>`.
    """

    name: str
    target: str
    function: Function
    composites: tuple[str, ...]
    operators: tuple[Call, ...]
    inputs: tuple[Handed, ...]
    constants: tuple[Handed, ...]
    outputs: tuple[Handed, ...]


def hand_overs(module: IRModule, types: Mapping[Node, Type]) -> Iterator[HandOver]:
    """Yield what is handed over with each function of `module` that belongs to a target, in order."""
    for var, function in module.relax_functions:
        target = attr(function.attrs, "Codegen")
        if isinstance(target, str):
            yield hand_over(var.name, target, function, types)


def hand_over(name: str, target: str, function: Function, types: Mapping[Node, Type]) -> HandOver:
    """Return what is handed over with a function; `types` are those of its nodes."""
    nodes = tuple(dict.fromkeys(preorder(function)))
    composites = (attr(item.attrs, "Composite") for item in nodes if isinstance(item, Function))
    constants = (item for item in nodes if isinstance(item, Constant))
    results = function.ret_type if function.ret_type is not None else types.get(function.body)
    fields = results.fields if isinstance(results, TupleType) else (results,)
    return HandOver(
        name,
        target,
        function,
        tuple(item for item in composites if isinstance(item, str)),
        tuple(item for item in nodes if isinstance(item, Call) and isinstance(item.op, Op)),
        tuple(Handed(item.name, item.annotation) for item in function.params),
        tuple(Handed(f"{name}_{target}_const_{k}", types.get(item)) for k, item in enumerate(constants)),
        tuple(Handed(str(place), item) for place, item in enumerate(fields)),
    )


def has_sizes(type_: Type | None) -> bool:
    """Tell whether a caller can allocate a result of this type: tensors of known shape and dtype, or tuples of them."""
    match type_:
        case TensorType(shape=shape, dtype=dtype):
            return shape is not None and dtype is not None
        case TupleType(fields=fields):
            return all(map(has_sizes, fields))
        case _:
            return False
