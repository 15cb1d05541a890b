"""RealizeVDevice: put every tensor on a virtual device, by hints and declared types; a copy stands where they differ.

What an operator takes and gives is on one device. See: tvm/src/relax/transform/realize_vdevice.cc
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.device.devices import DEVICE_KINDS, Device
from relax_core.analysis.device.proof import Proof
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.attrs import attr
from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    Op,
    PrimValue,
    SeqExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import IntImm, StringImm
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import operator_call

HINT, COPY = "relax.hint_on_device", "relax.to_vdevice"
_CPU_TARGETS = ("llvm", "c")


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Write the virtual device of every tensor into its type, and make copies of hints.

    Raises:
        CompileError: DV001, one operator has operands on two devices.
    """
    known = attr(module.global_infos, "vdevice", ())
    names = tuple(item for item in known if isinstance(item, str)) if isinstance(known, tuple) else ()

    def named(node: Node) -> Node | None:
        """Rule: hint_on_device(x, R.device(...)) -> hint_on_device(x, "kind:index:scope")."""
        if not isinstance(node, Call) or not _is(node, HINT):
            return None
        match node.args:
            case (source, Call() as device, *_):
                return replace(node, args=(source, PrimValue(StringImm(_target(device, names)))))
            case _:
                return None

    # A device as an object has no type, nor what is hinted by one.
    module = change_functions(module, ctx, lambda _, function: ctx.rewrite(function, named))
    types = ctx.types(module)
    return change_functions(module, ctx, lambda _, function: _Realizer(types, ctx).function(function))


@dataclass(slots=True)
class _Realizer:
    types: Mapping[Node, Type]
    ctx: PassContext
    proof: Proof = field(default_factory=Proof)
    slot_of: dict[Var, int] = field(default_factory=dict[Var, int])
    fields_of: dict[Var, tuple[Expr, ...]] = field(default_factory=dict[Var, tuple[Expr, ...]])
    """For a variable of a tuple what lies where its fields do, in order."""

    def function(self, function: Function) -> Function:
        """Return the function with virtual devices."""
        self._collect(function)
        if self.proof.conflicts:
            raise CompileError(tuple(self._conflicts()))
        new_of: dict[Var, Expr] = {}
        is_told = any(self.device(var) is not None for var in self.slot_of)
        for var in self.slot_of:
            known, device = self.types.get(var), self.device(var)
            if is_told and device is None and isinstance(known, TensorType):
                self.ctx.remark(var, "missed", f"{var.name} is on no virtual device: no hint or type decides it")
            if isinstance(known, TensorType) and device is not None and known.vdevice != device:
                annotation = replace(known, vdevice=device)
                new_of[var] = self.ctx.derive(replace(var, annotation=annotation), var)
                reason = self.proof.fixed(self.slot_of[var])
                because = () if reason is None else (reason.reason.node,)
                words = "" if reason is None else reason.reason.words
                self.ctx.remark(new_of[var], "applied", f"{var.name} is on {device}: {words}", because)

        def realize(node: Node) -> Node | None:
            """Rule: hint_on_device(x, d) -> x if it is there, else to_vdevice(x, d)."""
            if not isinstance(node, Call) or node not in hints:
                return None
            source, target = hints[node]
            made = new_of.get(source, source)
            if self.device(source) == target:
                return made
            self.ctx.remark(node, "applied", f"{source.name} is copied from {self.device(source)} to {target}")
            return operator_call(COPY, made, PrimValue(StringImm(target)))

        hints = {
            node: (node.args[0], self._hinted(node))
            for node in preorder(function)
            if isinstance(node, Call) and _is(node, HINT) and isinstance(node.args[0], Var)
        }
        for var in self.fields_of:
            known = self.types.get(var)
            if known is not None and not same_type(annotation := self.placed(var, known), known):
                new_of[var] = self.ctx.derive(replace(var, annotation=annotation), var)
        result = self._result_type(function)
        changed = self.ctx.substitute(self.ctx.rewrite(function, realize), new_of)
        return changed if result is function.ret_type else replace(changed, ret_type=result)

    def device(self, var: Var) -> str | None:
        """Return the virtual device of a variable, `None` if nothing decides it."""
        slot = self.slot_of.get(var)
        found = None if slot is None else self.proof.device(slot)
        return None if found is None else found.kind

    def placed(self, value: Expr, known: Type) -> Type:
        """Return the type of a value with the devices that it, or each of its fields, is on."""
        match known:
            case TensorType() if isinstance(value, Var) and (device := self.device(value)) is not None:
                return replace(known, vdevice=device)
            case TupleType(fields=fields) if (parts := self.fields(value)) and len(parts) == len(fields):
                return TupleType(tuple(map(self.placed, parts, fields)))
            case _:
                return known

    def fields(self, value: Expr) -> tuple[Expr, ...]:
        """Return what lies where the fields of a tuple do, nothing if that is not known."""
        match value:
            case Tuple(fields=fields):
                return fields
            case Var():
                return self.fields_of.get(value, ())
            case _:
                return ()

    def _result_type(self, function: Function) -> Type | None:
        body = function.body.body if isinstance(function.body, SeqExpr) else function.body
        known = function.ret_type
        placed = None if known is None else self.placed(body, known)
        return known if placed is None or same_type(placed, known) else placed

    def _collect(self, function: Function) -> None:
        hints: list[tuple[Var, str, Call]] = []
        for node in preorder(function):
            if isinstance(node, Var):
                self._slot(node)
            elif isinstance(node, VarBinding):
                self._binding(node, hints)
        body = function.body.body if isinstance(function.body, SeqExpr) else function.body
        if isinstance(body, Var) and isinstance(function.ret_type, TensorType) and function.ret_type.vdevice:
            self._fix(body, function.ret_type.vdevice, function, "the result is declared there")
        # The last hint of a value decides, as in TVM.
        for source, target, call in reversed(hints):
            slot = self._slot(source)
            if slot is not None and self.proof.fixed(slot) is None:
                self._fix(source, target, call, "nothing else decides what is hinted")

    def _binding(self, binding: VarBinding, hints: list[tuple[Var, str, Call]]) -> None:
        value = binding.value
        if isinstance(value, Call) and (_is(value, HINT) or _is(value, COPY)):
            target = self._hinted(value)
            self._fix(binding.var, target, value, "the program says so")
            if _is(value, HINT) and isinstance(value.args[0], Var):
                hints.append((value.args[0], target, value))
            return
        operands = tuple(item for var in _operands(value) for item in self._leaves(var))
        match value, self.types.get(binding.var):
            case Tuple(fields=fields), _:
                self.fields_of[binding.var] = fields
                return
            case Var(), TupleType():
                self.fields_of[binding.var] = self.fields(value)
                return
            case TupleGetItem(tuple_value=whole, index=index), _ if parts := self.fields(whole):
                operands = (part,) if isinstance(part := parts[index], Var) else ()
            case _, TupleType(fields=fields) if operands:
                self.fields_of[binding.var] = operands[:1] * len(fields)
            case _:
                pass
        found = (self._slot(var) for var in (binding.var, *operands))
        slots = [slot for slot in found if slot is not None]
        for slot in slots[1:]:
            self.proof.unite(slots[0], slot, value, "an operator takes and gives values on one device")

    def _leaves(self, value: Expr) -> Iterator[Var]:
        """Yield the variables of a value that are no tuples."""
        parts = self.fields(value)
        for part in parts:
            yield from self._leaves(part)
        if not parts and isinstance(value, Var):
            yield value

    def _slot(self, var: Var) -> int | None:
        if not isinstance(self.types.get(var), TensorType):
            return None
        if var not in self.slot_of:
            self.slot_of[var] = self.proof.slot(var)
            declared = var.annotation
            if isinstance(declared, TensorType) and declared.vdevice is not None:
                self._fix(var, declared.vdevice, var, "its type is declared there")
        return self.slot_of[var]

    def _fix(self, var: Var, device: str, node: Node, words: str) -> None:
        slot = self._slot(var)
        if slot is not None:
            self.proof.fix(slot, Device(device, None), node, words)

    def _hinted(self, call: Call) -> str:
        """Return the virtual device that a hint or a copy names, as the module's table writes it."""
        match call.args[1]:
            case PrimValue(value=StringImm(value=text)):
                kind, _, rest = text.partition(":")
                index, _, scope = rest.partition(":")
                return f"{kind}:{index or 0}:{scope or 'global'}"
            case _:
                self.ctx.fail("DV001", "this hint names no device", call, 'write R.hint_on_device(x, "llvm:0")')

    def _conflicts(self) -> Iterator[Diagnostic]:
        log = self.ctx.whole_log()
        for item in self.proof.conflicts:
            places = ((reason.words, log.locate(reason.node)) for reason in (*item.left_chain, *item.right_chain))
            message = f"{item.reason.words}, but one is on {item.left} and the other on {item.right}"
            related = tuple((words, span) for words, span in places if span is not None)
            hint = "copy one of them with R.to_vdevice"
            yield Diagnostic("DV001", message, log.locate(item.reason.node), hint, related=related)


def _target(device: Call, names: tuple[str, ...]) -> str:
    """Return the virtual device of the module that `R.device(device_type, index)` means."""
    given = [item.value.value for item in device.args if isinstance(item, PrimValue) and isinstance(item.value, IntImm)]
    words = dict(zip(("device_type", "index"), given, strict=False))
    kind = attr(device.attrs, "device_type", words.get("device_type", 1))
    index = attr(device.attrs, "index", words.get("index", 0))
    name = DEVICE_KINDS.get(kind, "cpu") if isinstance(kind, int) else "cpu"
    wanted = _CPU_TARGETS if name == "cpu" else (name,)
    found = (item for item in names if item.split(":")[0] in wanted and item.split(":")[1] == str(index))
    return next(found, f"{wanted[0]}:{index}:global")


def _operands(value: Expr) -> tuple[Var, ...]:
    match value:
        case Var():
            return (value,)
        case Call(args=args):
            return tuple(var for item in args for var in _operands(item) if isinstance(item, Var | Tuple))
        case Tuple(fields=fields):
            return tuple(item for item in fields if isinstance(item, Var))
        case TupleGetItem(tuple_value=Var() as inner):
            return (inner,)
        case _:
            return ()


def _is(call: Call, name: str) -> bool:
    return isinstance(call.op, Op) and call.op.name == name


PASS = Pass(
    "RealizeVDevice",
    "Puts every tensor on a virtual device, by hints and declared types, and copies where they differ.",
    run,
    see="tvm/src/relax/transform/realize_vdevice.cc",
)
