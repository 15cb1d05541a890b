"""Lower operators to prim funcs, or to what the user chooses for an operator."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from relax_core.check.carried_devices import on_device_of
from relax_core.ir.absent import reference_of
from relax_core.ir.equality import structural_equal, structural_hash
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ir.tir import PrimFunc
from relax_core.ops import OPS
from relax_core.ops.show import show_type
from relax_core.ops.spec import Legalize, Legalized, OpSpec, OpTypeError
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relax.functions import rewrite_functions
from relax_core.passes.relax.operators.exchange import with_exchanges
from relax_core.passes.relax.runtime.size_conditions import depends_on_sizes

Signature: TypeAlias = tuple[object, ...]
Outline: TypeAlias = tuple[object, ...]
"""The number of parameters of a prim func, and for each buffer its dtype and the sizes that are numbers."""


class _OpenError(Exception):
    """A part has no cheap value."""


def call_signature(call: Call, type_of: Mapping[Node, Type]) -> Signature | None:
    """Return a value such that calls of equal ones have equal kernels; `None` if there is no cheap one.

    Dimensions that are no integers are compared by identity: those that only have the same form in two functions are
    told to be alike by the structure of the kernel.
    """
    if call.attrs or call.type_args or not isinstance(call.op, Op):
        return None
    places: dict[Var, int] = {}
    try:
        args = tuple(_argument(item, places, type_of) for item in call.args)
        return call.op.name, _type(type_of.get(call)), args
    except _OpenError:
        return None


def _argument(value: Expr, places: dict[Var, int], type_of: Mapping[Node, Type]) -> object:
    match value:
        case Var():
            # The same variable twice is another kernel than two variables of the same type.
            return "var", places.setdefault(value, len(places)), _type(type_of.get(value))
        case PrimValue(value=number):
            return "prim", _number(number)
        case ShapeExpr(values=values):
            return "shape", tuple(map(_number, values))
        case Tuple(fields=fields):
            return "tuple", tuple(_argument(item, places, type_of) for item in fields)
        case DataTypeImm(value=dtype):
            return "dtype", dtype
        case Null():
            return "null"
        case Constant(data=data) if data.ndim == 0 and reference_of(value) is None:
            return "constant", str(data.dtype), data.tobytes(), _type(type_of.get(value))
        case _:
            raise _OpenError


def _number(value: PrimExpr) -> object:
    match value:
        case IntImm() | FloatImm():
            return type(value).__name__, value.dtype, repr(value.value)
        case StringImm(value=text):
            return "string", text
        case _:
            return value


def _type(type_: Type | None) -> object:
    match type_:
        case TensorType(shape=tuple() as dims, dtype=dtype, vdevice=vdevice):
            return tuple(map(_number, dims)), dtype, vdevice
        case _:
            raise _OpenError


Custom = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LegalizeOpsOptions:
    """What is lowered, and how.

    `functions` and `operators` restrict the pass to these, empty means all; those of `skip_ops` stay. `custom` says for
    an operator how: "keep" leaves it; "packed" makes a destination-passing call of the packed function with the
    operator's name, and "packed:NAME" one of NAME; "call:NAME" a call that returns its value; any other word is a prim
    func of the module.
    """

    custom: Custom = ()
    functions: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    skip_ops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        pairs: Any = self.custom
        given: Iterable[tuple[str, str]] = (
            cast("Mapping[str, str]", pairs).items() if isinstance(pairs, dict) else pairs
        )
        object.__setattr__(self, "custom", tuple((_operator(name), how) for name, how in given))
        for field_name in ("operators", "skip_ops"):
            names = _words(getattr(self, field_name))
            object.__setattr__(self, field_name, tuple(_operator(name) for name in names))
        object.__setattr__(self, "functions", _words(self.functions))

    def is_chosen(self, name: str) -> bool:
        """Tell whether the operator `name` is lowered."""
        return name not in self.skip_ops and (not self.operators or name in self.operators)

    def how(self, name: str) -> str | None:
        """Return the choice for the operator `name`."""
        return next((how for key, how in self.custom if key == name), None)


def _words(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _operator(name: str) -> str:
    """Complete the name of an operator.

    Raises:
        ValueError: there is none of that name.
    """
    full = name if name.startswith("relax.") else f"relax.{name.removeprefix('R.')}"
    if full not in OPS:
        raise ValueError(f"there is no operator {name}")
    return full


def run(module: IRModule, options: LegalizeOpsOptions, ctx: PassContext) -> IRModule:
    """Replace operator calls by `call_tir` of prim funcs that are added to the module."""
    for name in options.functions:
        if not isinstance(found := module.find(name), Definition) or not isinstance(found.function, Function):
            known = ", ".join(var.name for var, _ in module.relax_functions)
            message = f"LegalizeOps(functions=...): the module has no Relax function {name}"
            ctx.fail("PS007", message, module, f"its Relax functions: {known}")

    def is_chosen(function: GlobalVar, name: str) -> bool:
        is_meant = not options.functions or function.name in options.functions
        return is_meant and options.is_chosen(name) and options.how(name) is None

    return legalized(with_exchanges(module, ctx, is_chosen), options, ctx, MappingProxyType({}))


def legalized(
    module: IRModule, options: LegalizeOpsOptions, ctx: PassContext, kernels: Mapping[str, Legalize]
) -> IRModule:
    """Do so for another pass, whose `kernels` of operators come before those of the operators' table."""
    lowering = _Legalization(module, options, ctx, ctx.types(module), kernels)

    def rules_for(name: GlobalVar, _: Function) -> tuple[Rule, ...]:
        return (lowering.legalize,) if not options.functions or name.name in options.functions else ()

    result = rewrite_functions(module, ctx, rules_for, (Call,))
    return ctx.derive(result.with_definitions(*lowering.added), module) if lowering.added else result


@dataclass(slots=True)
class _Legalization:
    module: IRModule
    options: LegalizeOpsOptions
    ctx: PassContext
    type_of: Mapping[Node, Type]
    kernels: Mapping[str, Legalize]
    added: list[Definition] = field(default_factory=list[Definition])
    alike: dict[Outline, list[Definition]] = field(default_factory=dict[Outline, list[Definition]])
    """Private prim funcs by what is cheap to compare: most are the only ones of their buffers."""
    hash_of: dict[GlobalVar, str] = field(default_factory=dict[GlobalVar, str])
    by_call: dict[Signature, GlobalVar] = field(default_factory=dict[Signature, GlobalVar])
    calls_of: dict[GlobalVar, list[Node]] = field(default_factory=dict[GlobalVar, list[Node]])
    """The calls that each prim func which was added serves: it stems from all of them."""
    names: Names = field(default_factory=Names)

    def __post_init__(self) -> None:
        self.names = Names(self.module.names)
        for item in self.module.definitions:
            if isinstance(item.function, PrimFunc) and item.function.is_private:
                self.alike.setdefault(_outline(item.function), []).append(item)

    def legalize(self, node: Node) -> Node | None:
        """Rule: operator call -> call_tir of its prim func."""
        match node:
            case Call(op=Op(name="relax.call_tir_with_grad" as name), args=(callee, arguments, *_)) if (
                self.options.is_chosen(name)
            ):
                self.ctx.remark(node, "applied", "call_tir_with_grad becomes call_tir; its gradient is not asked for")
                return Call(Op("relax.call_tir"), (callee, arguments), type_args=node.type_args)
            case Call(op=Op(name=name)) if self.options.is_chosen(name) and (spec := OPS.get(name)) is not None:
                how = self.options.how(name)
                return self.default(node, spec) if how is None else self.custom(node, spec, how)
            case _:
                return None

    def default(self, call: Call, spec: OpSpec) -> Call | None:
        if spec.legalize is None:
            if spec.evaluate is not None:
                self.ctx.remark(call, "note", f"{spec.short_name} has no prim func; the machine evaluates it")
            return None
        arg_types = tuple(self.type_of[item] for item in call.args if item in self.type_of)
        out = self.type_of.get(call)
        is_typed = out is not None and len(arg_types) == len(call.args)
        signature = call_signature(call, self.type_of)
        is_open = is_typed and signature not in self.by_call and depends_on_sizes(spec, call, arg_types)
        made = self.made(spec, call, arg_types, out) if is_typed and not is_open else None
        if is_open:
            reason = "whether the sizes of its arguments fit shows only when the program runs"
            self.ctx.remark(call, "missed", f"{spec.short_name} stays an operator: {reason}", call.args)
            return None
        if made is None:
            self.ctx.remark(call, "missed", f"{spec.short_name} stays an operator: {self.reason(call)}", call.args)
            return None
        callee, is_new = self.global_for(made.prim_func, made.name, call, signature)
        arguments: tuple[Expr, ...] = (callee, Tuple(made.args))
        if made.tir_vars:
            arguments = (*arguments, ShapeExpr(made.tir_vars))
        how = "a prim func of its own" if is_new else "a prim func that is there already"
        self.ctx.remark(call, "applied", f"{spec.short_name} calls @{callee.name}, {how}")
        places = () if out is None else (out,)
        return Call(Op("relax.call_tir"), arguments, type_args=tuple(on_device_of(item, places) for item in made.out))

    def made(self, spec: OpSpec, call: Call, arg_types: tuple[Type, ...], out: Type | None) -> Legalized | None:
        """Return the prim func of a call; `None` if it needs an attribute that only the run knows."""
        assert out is not None, "the call has a type"
        for legalize in (self.kernels.get(spec.name), spec.legalize):
            try:
                found = None if legalize is None else legalize(call, arg_types, out)
            except OpTypeError:
                return None
            if found is not None:
                return found
        return None

    def reason(self, call: Call) -> str:
        """Say which type is not known well enough."""
        for item in (*call.args, call):
            type_ = self.type_of.get(item)
            if isinstance(type_, TensorType) and (type_.dims is None or type_.dtype is None):
                what = "the result" if item is call else getattr(item, "name", "an argument")
                return f"the type of {what} is {show_type(type_)}, and a prim func needs every dimension and the dtype"
        return "no prim func is known for these arguments"

    def global_for(self, made: PrimFunc, name: str, call: Call, signature: Signature | None) -> tuple[GlobalVar, bool]:
        """Return the name of a prim func that equals `made` for `call`, and whether it had to be added."""
        if signature is not None and (known := self.by_call.get(signature)) is not None:
            return self.shared(known, call)
        found = self.equal_to(made, name, call)
        if signature is not None:
            self.by_call[signature] = found[0]
        return found

    def equal_to(self, prim_func: PrimFunc, name: str, call: Call) -> tuple[GlobalVar, bool]:
        private = replace(prim_func, is_private=True) if not prim_func.is_private else prim_func
        alike = self.alike.setdefault(_outline(private), [])
        own = structural_hash(private) if alike else ""
        for item in alike:
            if self.hashed(item) == own and structural_equal(item.function, private):
                return self.shared(item.var, call)
        definition = Definition(GlobalVar(self.names.fresh(name)), private)
        self.calls_of[definition.var] = [call]
        self.ctx.log.derive(definition, self.calls_of[definition.var])
        self.added.append(definition)
        alike.append(definition)
        return definition.var, True

    def hashed(self, definition: Definition) -> str:
        """Return the structural hash of a prim func, computed when another one has the same outline."""
        if definition.var not in self.hash_of:
            self.hash_of[definition.var] = structural_hash(definition.function)
        return self.hash_of[definition.var]

    def shared(self, var: GlobalVar, call: Call) -> tuple[GlobalVar, bool]:
        """Let a prim func that is there serve `call` as well."""
        if var in self.calls_of:
            self.calls_of[var].append(call)
        return var, False

    def custom(self, call: Call, spec: OpSpec, how: str) -> Call | None:
        out = self.type_of.get(call)
        kind, _, word = how.partition(":")
        if how == "keep":
            self.ctx.remark(call, "missed", f"{spec.short_name} stays an operator, as the options say")
            return None
        if kind == "call" and word:
            self.ctx.remark(call, "applied", f"{spec.short_name} calls the packed function {word}")
            types = () if out is None else (out,)
            pure = (ExternFunc(word), *call.args)
            return Call(Op("relax.call_pure_packed"), pure, type_args=types)
        if not _is_complete(out):
            self.ctx.remark(call, "missed", f"{spec.short_name} stays an operator: {self.reason(call)}")
            return None
        results = out.fields if isinstance(out, TupleType) else (out,)
        if kind == "packed":
            self.ctx.remark(call, "applied", f"{spec.short_name} calls the packed function {word or spec.short_name}")
            callee: Expr = ExternFunc(word or spec.short_name)
            op = Op("relax.call_dps_packed")
        else:
            found = self.module.find(how)
            if found is None or not isinstance(found.function, PrimFunc):
                known = ", ".join(var.name for var, _ in self.module.prim_funcs) or "none"
                message = f"LegalizeOps(custom=...): the module has no prim func {how}"
                self.ctx.fail(
                    "PS007", message, call, f"its prim funcs: {known}; other choices: keep, packed, call:NAME"
                )
            self.ctx.remark(call, "applied", f"{spec.short_name} calls @{how}, as the options say")
            callee, op = found.var, Op("relax.call_tir")
        types = tuple(item for item in results if item is not None)
        return Call(op, (callee, Tuple(self.tensors(call))), type_args=types)

    def tensors(self, call: Call) -> tuple[Expr, ...]:
        """The tensors among the arguments; the others are not part of a kernel's signature."""
        flat = (part for item in call.args for part in (item.fields if isinstance(item, Tuple) else (item,)))
        return tuple(item for item in flat if isinstance(self.type_of.get(item), TensorType))


def _outline(prim_func: PrimFunc) -> Outline:
    buffers = (item.buffer for item in prim_func.buffers)
    sizes = (
        (item.dtype, tuple(size.value if isinstance(size, IntImm) else None for size in item.shape)) for item in buffers
    )
    return len(prim_func.params), *sizes


def _is_complete(out: Type | None) -> bool:
    results = out.fields if isinstance(out, TupleType) else (out,)
    return all(isinstance(item, TensorType) and item.shape is not None and item.dtype for item in results)


PASS = Pass(
    "LegalizeOps",
    "Lowers operators to prim funcs (call_tir), one operator, one function, or all.",
    run,
    options=LegalizeOpsOptions,
    needs=("normal form",),
    breaks=("explicit destinations",),
    see="tvm/src/relax/transform/legalize_ops.cc",
)
