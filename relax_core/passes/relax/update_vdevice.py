"""UpdateVDevice: put another virtual device in the place of one, in the module's table and in every type.

See: tvm/src/relax/transform/update_vdevice.cc
"""

from dataclasses import dataclass, replace

from relax_core.ir.attrs import AttrValue, attr, with_attr
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

    def moved(type_: Type) -> Type:
        match type_:
            case TensorType(vdevice=device) if device is not None and device == old:
                return replace(type_, vdevice=new)
            case TupleType(fields=fields):
                return TupleType(tuple(map(moved, fields)))
            case FuncType(params=params, ret=ret):
                return replace(type_, params=None if params is None else tuple(map(moved, params)), ret=moved(ret))
            case _:
                return type_

    def update(node: Node) -> Node | None:
        """Rule: the old virtual device -> the one in its place."""
        match node:
            case Call(
                op=Op(name="relax.to_vdevice" | "relax.hint_on_device"), args=(source, PrimValue(value=word), *rest)
            ):
                if isinstance(word, StringImm) and word.value == old:
                    return replace(node, args=(source, PrimValue(StringImm(new)), *rest))
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
    table = (*known[: options.index], new, *known[options.index + 1 :])
    return ctx.derive(replace(result, global_infos=with_attr(module.global_infos, "vdevice", table)), module)


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
