"""UpdateVDevice: put another virtual device in the place of one, in the module's table and in every type.

See: tvm/src/relax/transform/update_vdevice.cc
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from relax_core.ir.attrs import Attrs, AttrValue, attr, with_attr
from relax_core.ir.expr import Call, Function, FuncType, Op, PrimValue, TensorType, TupleType, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import StringImm
from relax_core.ir.rewriting.substitute import with_types
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions


@dataclass(frozen=True, slots=True)
class UpdateVDeviceOptions:
    """`new_vdevice`, such as "cuda:0:global", takes the place of number `index` of the module's virtual devices."""

    new_vdevice: str = "llvm:0:global"
    index: int = 0


def run(module: IRModule, options: UpdateVDeviceOptions, ctx: PassContext) -> IRModule:
    """Replace one virtual device everywhere.

    A type names a device by its kind and its number among those of the kind, so that others may get another name. TVM
    stops where a `to_vdevice` names a device that gets another one.

    Raises:
        CompileError: DV006, the module has no virtual device of that number.
    """
    given = attr(module.global_infos, "vdevice", ())
    known: tuple[AttrValue, ...] = given if isinstance(given, tuple) else ()
    if not 0 <= options.index < len(known):
        message = f"the module has {len(known)} virtual devices; there is no number {options.index}"
        ctx.fail("DV006", message, module, "I.module_global_infos lists them, from 0")
    old, new = known[options.index], options.new_vdevice
    if old == new:
        ctx.remark(module, "missed", f"virtual device {options.index} is {old} already")
        return module

    table = (*known[: options.index], new, *known[options.index + 1 :])
    words = {was: is_ for was, is_ in zip(_words(known), _words(table), strict=True) if was != is_}

    def moved(type_: Type) -> Type:
        return _moved(type_, words)

    def update(node: Node) -> Node | None:
        """Rule: the old virtual device -> the one in its place."""
        match node:
            case Call(
                op=Op(name="relax.to_vdevice" | "relax.hint_on_device"), args=(source, PrimValue(value=word), *rest)
            ):
                if isinstance(word, StringImm) and _in_full(word.value) in words:
                    return replace(node, args=(source, PrimValue(StringImm(words[_in_full(word.value)])), *rest))
                return None
            case Function() | Call():
                return with_types(node, moved)
            case _:
                return None

    def change(function: Function) -> Function:
        places = (node for node in preorder(function) if isinstance(node, Var))
        vars_ = {var: ctx.derive(made, var) for var in places if (made := with_types(var, moved)) is not var}
        return ctx.rewrite(ctx.substitute(function, vars_), update)

    result = change_functions(module, ctx, lambda _, function: change(function))
    _explain(module, result, (old, new), ctx)
    return ctx.derive(replace(result, global_infos=with_attr(module.global_infos, "vdevice", table)), module)


def _moved(type_: Type, words: Mapping[str, str]) -> Type:
    """Return a type with other names of devices."""
    match type_:
        case TensorType(vdevice=str(device)) if _in_full(device) in words:
            return replace(type_, vdevice=words[_in_full(device)])
        case TupleType(fields=fields):
            return TupleType(tuple(_moved(item, words) for item in fields))
        case FuncType(params=params, ret=ret):
            new = None if params is None else tuple(_moved(item, words) for item in params)
            return replace(type_, params=new, ret=_moved(ret, words))
        case _:
            return type_


def _words(table: tuple[AttrValue, ...]) -> Iterator[str]:
    """Yield what types call the devices of a table."""
    count = Counter[str]()
    for item in table:
        kind, scope = _kind_and_scope(item)
        yield f"{kind}:{count[kind]}:{scope}"
        count[kind] += 1


def _kind_and_scope(info: AttrValue) -> tuple[str, str]:
    match info:
        case str(text):
            kind, _, scope = _in_full(text).split(":")
            return kind.split(" ", 1)[0], scope
        case (((_, *_), *_) as target, *rest):
            pairs = cast("Attrs", target)
            return str(attr(pairs, "kind") or attr(pairs, "tag")), str(rest[1]) if len(rest) > 1 else "global"
        case _:
            return "", "global"


def _in_full(device: str) -> str:
    """Return "cuda:0:global" of "cuda", as types name devices."""
    parts = device.split(":")
    return ":".join((parts + ["0", "global"][len(parts) - 1 :])[:3])


def _explain(before: IRModule, after: IRModule, devices: tuple[AttrValue, AttrValue], ctx: PassContext) -> None:
    """Say what the device is in the table of the module, and which functions are on others."""
    ctx.remark(before, "applied", f"a virtual device of the module is {devices[1]}, and was {devices[0]}")
    for old, new in zip(before.definitions, after.definitions, strict=True):
        if old is not new:
            ctx.remark(old, "applied", f"in @{old.var.name} {devices[0]} becomes {devices[1]}")
        else:
            ctx.remark(old, "missed", f"@{old.var.name} stays: nothing in it is on {devices[0]}")


PASS = Pass(
    "UpdateVDevice",
    "Puts another virtual device in the place of one, in the module's table and in every type.",
    run,
    UpdateVDeviceOptions,
    see="tvm/src/relax/transform/update_vdevice.cc",
)
