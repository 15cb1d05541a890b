"""ManifestAlloc: make the memory of every operator explicit, on the device that was planned for its value.

`let %x = add(%a, %b)` becomes a storage, a tensor in it, and a call that writes it. The size of a tensor whose shape is
not known is computed on the host first. See: tvm/src/relay/transforms/memory_alloc.cc, v0.19
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relax_core.analysis.device.constraints import parts_of
from relax_core.analysis.device.devices import HOST, Device, attribute_of, declared_devices, is_primitive
from relax_core.analysis.device.plan import DevicePlan, plan_devices
from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Op, TensorType, Tuple, TupleType, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.let_list import LetList
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.runtime.lower_alloc_tensor import dtype_bytes
from relax_core.passes.relay.normal_form.to_a_normal_form import normalized_first

ALIGNMENT = 64
"""Bytes to which storages are aligned, as in TVM's run time."""
_NO_MEMORY = ("on_device", "device_copy", "call_lowered", "debug")
_SPACES = ("annotation.", "memory.", "vm.")


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Make memory explicit in every function.

    Raises:
        CompileError: DV003, a value that needs memory has no device.
    """
    module = normalized_first(module, ctx)
    for var, function in module.relax_functions:
        if not is_primitive(function):
            _require_devices(var, function, ctx)
    plan = plan_devices(module, HOST)

    def change(function: Function) -> Function:
        return function if is_primitive(function) else _Allocator(plan, ctx, names_in(function)).function(function)

    return module.map_functions(change)


def _require_devices(var: GlobalVar, function: Function, ctx: PassContext) -> None:
    """Stop at the first value of a function that needs memory, if no device was planned for the function."""
    if declared_devices(function)[1] is not None:
        return
    values = {node.var: node.value for node in parts_of(function) if isinstance(node, Let)}
    for node in parts_of(function):
        if isinstance(node, Call) and needs_memory(node, values):
            what = f"`{node.op.name}`" if isinstance(node.op, Op) else "this primitive function"
            message = f"no device is known for the result of {what} in @{var.name}, so it has no memory"
            hint = "run PlanDevices before; as_in='reported' leaves functions without devices"
            ctx.fail("DV003", message, node, hint)


def needs_memory(call: Call, values: Mapping[Var, Expr]) -> bool:
    """Tell whether a call computes tensors by a kernel: an operator, or a function that stands for one."""
    match _callee(call, values):
        case Op(name=name):
            return name not in _NO_MEMORY and not name.startswith(_SPACES)
        case Function() as function:
            return is_primitive(function)
        case _:
            return False


def _callee(call: Call, values: Mapping[Var, Expr]) -> Expr:
    callee = call.op
    while isinstance(callee, Var) and callee in values:
        callee = values[callee]
    return callee


@dataclass(slots=True)
class _Allocator:
    plan: DevicePlan
    ctx: PassContext
    names: Names

    def function(self, function: Function) -> Function:
        """Return the function with explicit memory."""
        values = {node.var: node.value for node in parts_of(function) if isinstance(node, Let)}
        lets = {
            node.var: node.value
            for node in parts_of(function)
            if isinstance(node, Let) and isinstance(node.value, Call) and needs_memory(node.value, values)
        }

        def manifest(node: Node) -> Node | None:
            """Rule: let x = op(...) -> allocate x, then let op write it."""
            if not isinstance(node, Let) or node.var not in lets or not isinstance(node.value, Call):
                return None
            callee, call = _callee(node.value, values), node.value
            return self._let(node, replace(call, op=callee) if isinstance(callee, Op) else call)

        return self.ctx.rewrite(function, manifest)

    def _let(self, let: Let, call: Call) -> Node | None:
        type_ = self.types.get(let.var)
        outputs = type_.fields if isinstance(type_, TupleType) else (type_,)
        tensors = tuple(item for item in outputs if isinstance(item, TensorType))
        device = self.plan.device(let.var)
        if len(tensors) < len(outputs) or device is None:
            why = "it has no device" if device is None else "it is no tensor, nor a tuple of tensors"
            self.ctx.remark(let, "missed", f"%{let.var.name} gets no memory: {why}")
            return None
        lets = LetList(self.names, self.ctx.log)
        work = _Work(self._kernel(call, type_), call.args, tuple(self.types.get(arg) for arg in call.args), call)
        made = self._results(work, tensors, device, lets)
        result: Expr = Tuple(made, span=call.span) if isinstance(type_, TupleType) else made[0]
        self.ctx.remark(let, "applied", f"%{let.var.name}: memory on {device}")
        lets.bind(let.var, result, let)
        return lets.wrap(let.body)

    @property
    def types(self) -> Mapping[Node, Type]:
        """The types of the module."""
        return self.plan.domains.types

    def _kernel(self, call: Call, type_: Type | None) -> Expr:
        """Return what a call calls as a function that stands for one operator."""
        if not isinstance(call.op, Op):
            return call.op
        params = tuple(Var(f"p{k}", self.types.get(arg), span=arg.span) for k, arg in enumerate(call.args))
        body = Call(call.op, params, call.attrs, span=call.span)
        return self.ctx.derive(Function(params, body, type_, (("Primitive", 1),), span=call.span), call)

    def _results(
        self, work: "_Work", tensors: tuple[TensorType, ...], device: Device, lets: LetList
    ) -> tuple[Expr, ...]:
        """Allocate the tensors that a kernel writes and call it on them; return the tensors."""
        is_static = all(_static(item) is not None for item in tensors)
        if not is_static:
            self.ctx.remark(work.origin, "note", "the size is not known: it is computed on the host before")
        shapes = (None,) * len(tensors) if is_static else self._shapes(work, tensors, lets)
        made = tuple(
            self._tensor(item, shape, (device, work.origin), lets) for item, shape in zip(tensors, shapes, strict=True)
        )
        self._effect("vm.invoke_tvm_op", (work.kernel, Tuple(work.args), Tuple(made)), (), (work.origin, lets))
        return made

    def _effect(self, name: str, args: tuple[Expr, ...], attrs: Attrs, how: tuple[Call, LetList]) -> None:
        origin, lets = how
        made = self.ctx.derive(Call(Op(name), args, attrs, span=origin.span), origin)
        lets.bind(Var("_", span=origin.span), made, origin)

    def _tensor(self, type_: TensorType, shape: Expr | None, where: tuple[Device, Call], lets: LetList) -> Expr:
        """Allocate one tensor; `shape` is its shape as a tensor on the host if the type does not give it."""
        device, origin = where
        dtype, static = type_.dtype or "float32", _static(type_)
        if static is not None:
            size: Expr = _number(math.prod(static) * dtype_bytes(dtype))
            sizes: Expr = _literal(np.array(static, "int64"))
        else:
            assert shape is not None, "the shape was computed"
            size, sizes = self._size(shape, type_, origin, lets), shape
        given: Attrs = (("virtual_device", attribute_of(device)), ("dtype", dtype))
        storage = lets.push(
            Call(Op("memory.alloc_storage"), (size, _number(ALIGNMENT)), given, span=origin.span), origin
        )
        attrs: Attrs = (("const_shape", static),) if static is not None else (("assert_shape", _sizes(type_)),)
        made = Call(
            Op("memory.alloc_tensor"), (storage, _number(0), sizes), (*attrs, ("dtype", dtype)), span=origin.span
        )
        return lets.push(made, origin)

    def _size(self, shape: Expr, type_: TensorType, origin: Call, lets: LetList) -> Expr:
        """Compute the bytes of a tensor on the host from its shape."""
        rank = TensorType((IntImm(type_.ndim or 0),), "int64")
        params = Var("shape", rank), Var("element", _SCALAR)
        count = Call(Op("prod"), params[:1])
        body = Call(Op("multiply"), (count, params[1]))
        kernel = self.ctx.derive(Function(params, body, _SCALAR, (("Primitive", 1),), span=origin.span), origin)
        args = shape, _number(dtype_bytes(type_.dtype or "float32"))
        return self._results(_Work(kernel, args, (rank, _SCALAR), origin), (_SCALAR,), HOST, lets)[0]

    def _shapes(self, work: "_Work", tensors: tuple[TensorType, ...], lets: LetList) -> tuple[Expr, ...]:
        """Compute the shapes of the results on the host, from the shapes of the arguments."""
        inputs = tuple(
            lets.push(Call(Op("vm.shape_of"), (arg,), (("dtype", "int64"),), span=arg.span), work.origin)
            if isinstance(type_, TensorType)
            else arg
            for arg, type_ in zip(work.args, work.types, strict=True)
        )
        outputs: list[Expr] = []
        for item in tensors:
            if item.ndim is None:
                message = "the rank of this value is not known, so there is no memory for its shape"
                self.ctx.fail("DV004", message, work.origin, "annotate the value with a type that has a rank")
            rank = TensorType((IntImm(item.ndim),), "int64")
            outputs.append(self._tensor(rank, None, (HOST, work.origin), lets))
        is_input = tuple(not isinstance(item, TensorType) for item in work.types)
        args = (work.kernel, Tuple(inputs), Tuple(tuple(outputs)))
        self._effect("vm.shape_func", args, (("is_input", is_input),), (work.origin, lets))
        return tuple(outputs)


@dataclass(frozen=True, slots=True)
class _Work:
    """A kernel, its arguments and their types, and the call that it stems from."""

    kernel: Expr
    args: tuple[Expr, ...]
    types: tuple[Type | None, ...]
    origin: Call


def _static(type_: TensorType) -> tuple[int, ...] | None:
    """Return the shape of a type if all sizes are known."""
    sizes = tuple(dim.value for dim in type_.dims or () if isinstance(dim, IntImm))
    return sizes if type_.dims is not None and len(sizes) == len(type_.dims) else None


def _sizes(type_: TensorType) -> tuple[int, ...]:
    """Return the shape of a type with -1 for the sizes that are not known, as `reshape` writes it."""
    return tuple(dim.value if isinstance(dim, IntImm) else -1 for dim in type_.dims or ())


def _number(value: int) -> Constant:
    return _literal(np.array(value, "int64"))


def _literal(data: "np.ndarray[Any, Any]") -> Constant:
    data.flags.writeable = False
    return Constant(data)


_SCALAR = TensorType((), "int64")

PASS = Pass(
    "ManifestAlloc",
    "Makes memory explicit: for every operator a storage on the planned device, a tensor in it, a call that writes it.",
    run,
    see="tvm/src/relay/transforms/memory_alloc.cc",
    dialect="relay",
)
