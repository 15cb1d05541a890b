"""Builtins as Python expressions for their usual case, each with a test for that case.

Where the test fails, generated code calls the builtin, which handles the rest and reports errors.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from relax_core.bytecode.isa import Argument, ConstantRef, Immediate, Register, Special
from relax_core.vm.heap import EQUAL_TO_IMMEDIATE, NO_CHECK
from relax_core.vm.tiers.names import Names
from relax_core.vm.values import DTypeValue


@dataclass(frozen=True, slots=True)
class Inline:
    """`value` is what the builtin returns if `test` holds; an empty test always holds."""

    test: str
    value: str


Template = Callable[[Names, tuple[Argument, ...]], Inline | None]


def inline(names: Names, builtin: str, args: tuple[Argument, ...]) -> Inline | None:
    """Return the inline form of a call of a builtin, `None` if it has none."""
    template = _TEMPLATES.get(builtin)
    return None if template is None else template(names, args)


def _copy(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", names.argument(args[0]))


def _null(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", "None")


def _tuple(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", names.tuple_of(args))


def _field(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value, Immediate(value=index)) if index >= 0:
            name = names.argument(value)
            return Inline(f"type({name}) is tuple and len({name}) > {index}", f"{name}[{index}]")
        case _:
            return None


def _check_tensor(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value, Immediate(value=rank), Special() | ConstantRef() as dtype, *_):
            name = names.argument(value)
            tests = [f"type({name}) is ndarray"]
            if rank >= 0:
                tests.append(f"{name}.ndim == {rank}")
            if isinstance(dtype, ConstantRef):
                found = names.constant(dtype)
                if not isinstance(found, DTypeValue):
                    return None
                # NumPy's own dtypes are singletons, so that identity decides; any other dtype takes the call of the
                # builtin.
                tests.append(f"{name}.dtype is {names.add(np.dtype(found.name), 'dtype')}")
            return Inline(" and ".join(tests), "None")
        case _:
            return None


def _check_length(kind: str) -> Template:
    def template(names: Names, args: tuple[Argument, ...]) -> Inline | None:
        match args:
            case (Register() as value, Immediate(value=length), *_) if length >= 0:
                name = names.argument(value)
                return Inline(f"type({name}) is {kind} and len({name}) == {length}", "None")
            case _:
                return None

    return template


def _check_function(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline(f"type({names.argument(args[0])}) is Closure", "None")


def _check_prim(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    found = names.constant(args[1]) if isinstance(args[1], ConstantRef) else None
    if not isinstance(found, DTypeValue) or found.name == "string":
        return None
    kind = "float" if found.name.startswith(("float", "bfloat")) else "int"
    return Inline(f"type({names.argument(args[0])}) is {kind}", "None")


def _match_shape(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    """Inline comparisons of a shape with numbers. What uses the shape heap calls the builtin."""
    match args:
        case (Register() as value, _, Immediate(value=rank), *pairs, _):
            codes = [item.value for item in pairs[::2] if isinstance(item, Immediate)]
            sizes = [item.value for item in pairs[1::2] if isinstance(item, Immediate)]
            if len(codes) != rank or len(sizes) != rank or not {*codes} <= {EQUAL_TO_IMMEDIATE, NO_CHECK}:
                return None
            name = names.argument(value)
            if NO_CHECK in codes:
                checked = zip(range(rank), codes, sizes, strict=True)
                tests = [f"{name}.shape[{axis}] == {size}" for axis, code, size in checked if code != NO_CHECK]
                return Inline(" and ".join((f"type({name}) is ndarray and {name}.ndim == {rank}", *tests)), "None")
            return Inline(f"type({name}) is ndarray and {name}.shape == {_shape(sizes)}", "None")
        case _:
            return None


def _shape(sizes: list[int]) -> str:
    return f"({''.join(f'{size}, ' for size in sizes)})"


def _read_condition(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value,):
            name = names.argument(value)
            test = "" if value.index in names.scalar_tensors else f"type({name}) is ndarray and {name}.ndim == 0"
            return Inline(test, f"1 if {name} else 0")
        case _:
            return None


def _closure(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    captures = f"{name}.captures + {names.tuple_of(args[1:])}"
    return Inline(f"type({name}) is Closure", f"Closure({name}.function, {name}.name, {captures})")


def _shape_of(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    return Inline(f"type({name}) is ndarray", f"ShapeValue({name}.shape)")


def _make_shape(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    heap, _, *rest = args
    pairs = [item.value for item in rest if isinstance(item, Immediate)]
    if not isinstance(heap, Register) or len(pairs) != len(rest):
        return None
    name = names.argument(heap)
    items = (
        f"int({name}[{operand}])" if code else f"{operand}"
        for code, operand in zip(pairs[::2], pairs[1::2], strict=True)
    )
    return Inline(f"type({name}) is ndarray", f"ShapeValue(({''.join(f'{item}, ' for item in items)}))")


def _unbox(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    return Inline(f"type({name}) is ndarray and {name}.ndim == 0", f"{name}.item()")


def _make_adt(names: Names, args: tuple[Argument, ...]) -> Inline:
    name, tag, *fields = args
    return Inline("", f"AdtValue({names.argument(name)}, {names.argument(tag)}, {names.tuple_of(tuple(fields))})")


def _tag(names: Names, args: tuple[Argument, ...]) -> Inline:
    name = names.argument(args[0])
    return Inline(f"type({name}) is AdtValue", f"{name}.tag")


def _is_tag(names: Names, args: tuple[Argument, ...]) -> Inline:
    return Inline("", f"{names.argument(args[0])} == {names.argument(args[1])}")


def _adt_field(names: Names, args: tuple[Argument, ...]) -> Inline | None:
    match args:
        case (Register() as value, Immediate(value=index)) if index >= 0:
            name = names.argument(value)
            return Inline(f"type({name}) is AdtValue and len({name}.fields) > {index}", f"{name}.fields[{index}]")
        case _:
            return None


_TEMPLATES: Mapping[str, Template] = MappingProxyType(
    {
        "vm.builtin.copy": _copy,
        "vm.builtin.null_value": _null,
        "vm.builtin.make_tuple": _tuple,
        "vm.builtin.tuple_getitem": _field,
        "vm.builtin.check_tensor_info": _check_tensor,
        "vm.builtin.check_shape_info": _check_length("ShapeValue"),
        "vm.builtin.check_tuple_info": _check_length("tuple"),
        "vm.builtin.check_func_info": _check_function,
        "vm.builtin.check_prim_value_info": _check_prim,
        "vm.builtin.match_shape": _match_shape,
        "vm.builtin.read_if_cond": _read_condition,
        "vm.builtin.make_closure": _closure,
        "vm.builtin.shape_of": _shape_of,
        "vm.builtin.make_shape": _make_shape,
        "vm.builtin.unbox_scalar": _unbox,
        "vm.builtin.make_adt": _make_adt,
        "vm.builtin.get_tag": _tag,
        "vm.builtin.is_tag": _is_tag,
        "vm.builtin.adt_field": _adt_field,
    }
)
