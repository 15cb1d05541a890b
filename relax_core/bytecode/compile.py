"""Compile the Relax functions of a lowered module to bytecode; prim funcs become kernels.

Every value gets a fresh register: registers are not allocated.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Literal, TypeAlias

from relax_core.bytecode.executable import DTypeConstant, Executable, FunctionEntry, ShapeConstant
from relax_core.bytecode.isa import (
    VM,
    VOID,
    Argument,
    CallInstruction,
    Destination,
    FunctionRef,
    GotoInstruction,
    IfInstruction,
    Immediate,
    Instruction,
    Register,
    ReturnInstruction,
    Special,
)
from relax_core.bytecode.places import result_node
from relax_core.bytecode.tables import ConstantPool, FunctionTable
from relax_core.check.infer import infer
from relax_core.check.inference import TypesWhenRead
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import (
    LEAVES,
    Binding,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Null,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import FloatImm, IntImm, StringImm
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc

AsIn: TypeAlias = Literal["fixed", "reported"]


BUILTIN_OF: Mapping[str, str] = MappingProxyType(
    {
        "relax.print": "relax.run.print",
        "relax.assert_op": "relax.run.assert_op",
        "relax.shape_of": "vm.builtin.shape_of",
        "relax.tensor_to_shape": "vm.builtin.tensor_to_shape",
        "relax.make_closure": "vm.builtin.make_closure",
        "relax.vm.call_tir_dyn": "vm.builtin.call_tir_dyn",
    }
)

_LOWERED_BY: Mapping[str, str] = MappingProxyType(
    {
        "relax.call_tir": "CallTIRRewrite",
        "relax.call_tir_inplace": "CallTIRRewrite",
        "relax.call_dps_packed": "CallTIRRewrite",
        "relax.call_inplace_packed": "RemovePurityChecking",
        "relax.builtin.alloc_tensor": "LowerAllocTensor",
        "relax.memory.alloc_storage": "LowerRuntimeBuiltin",
        "relax.memory.alloc_tensor": "LowerRuntimeBuiltin",
        "relax.memory.kill_storage": "LowerRuntimeBuiltin",
        "relax.memory.kill_tensor": "LowerRuntimeBuiltin",
    }
)


IMMEDIATE_LIMIT = 2**55 - 1


@dataclass(slots=True)
class FunctionCompiler:
    """The code of one function. `nodes` stands beside `instructions`; `at` is the node that is compiled."""

    functions: FunctionTable
    constants: ConstantPool
    type_of: Mapping[Node, Type]
    log: RewriteLog
    is_as_reported: bool = False
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    nodes: list[Node] = field(default_factory=list[Node])
    register_vars: list[Var | None] = field(default_factory=list["Var | None"])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    argument_of: dict[Var, Argument] = field(default_factory=dict[Var, Argument])
    used: set[Node] = field(default_factory=set[Node])

    def compile(self, function: Function) -> None:
        """Compile the body, which ends in a return."""
        for param in function.params:
            self.argument_of[param] = self.register(param)
        self.used = _used_variables(function)
        at = result_node(function.body, self.log)
        result = self.value(function.body, at)
        if not isinstance(result, Register | Special):
            result = self.call("vm.builtin.copy", (result,), at)
        self.emit(ReturnInstruction(result), at)

    def emit(self, instruction: Instruction, at: Node) -> int:
        self.instructions.append(instruction)
        self.nodes.append(at)
        return len(self.instructions) - 1

    def register(self, var: Var | None = None) -> Register:
        self.register_vars.append(var)
        return Register(len(self.register_vars) - 1)

    def call(
        self, name: str, arguments: Iterable[Argument], at: Node, *, dst: Destination | None = None
    ) -> Destination:
        """Call a function by name into `dst`, or into a fresh register."""
        index = self.functions.refer(name)
        into = self.register() if dst is None else dst
        self.emit(CallInstruction(index, tuple(arguments), into), at)
        return into

    def fail(self, code: str, message: str, at: Node, hint: str = "") -> Special:
        self.diagnostics.append(Diagnostic(code, message, self.log.locate(at), hint))
        return VOID

    def sequence(self, body: SeqExpr, at: Node) -> Argument:
        for block in body.blocks:
            for binding in block.bindings:
                self.binding(binding)
        self.refuse_global(body.body, at)
        return self.value(body.body, at)

    def binding(self, binding: Binding) -> None:
        match binding:
            case VarBinding(var=var, value=value):
                self.refuse_global(value, binding)
                is_dropped = var not in self.used and self.is_void(value)
                result = self.value(value, binding, dst=VOID if is_dropped else None)
                is_fresh = isinstance(value, Call | Tuple | TupleGetItem | If)
            case MatchCast(var=var, value=value):
                result, is_fresh = self.value(value, binding), False
            case _:
                raise AssertionError(type(binding).__name__)
        if not is_fresh and result is not VOID:
            result = self.call("vm.builtin.copy", (result,), binding)
        self.argument_of[var] = result
        if isinstance(result, Register) and self.register_vars[result.index] is None:
            self.register_vars[result.index] = var

    def is_void(self, value: Expr) -> bool:
        """Tell whether a value is none at all, so that no register holds it; types are asked where no call says so."""
        match value:
            case Call(op=ExternFunc(annotation=None), type_args=(declared,)):
                return _is_void(declared)
            case Call(op=GlobalVar(name=name)) if isinstance(callee := self.functions.function(name), PrimFunc):
                return callee.ret_dtype in (None, "void")
            case Call(op=Op(name="relax.vm.kill_object")) | Tuple():
                # Their registers are told by what they are given.
                return False
            case _:
                return _is_void(self.type_of.get(value))

    def refuse_global(self, value: Expr, at: Node) -> None:
        """As reported in 2022: a global function is a value only as the argument of a call."""
        if self.is_as_reported:
            for item in chain((value,), value.fields if isinstance(value, Tuple) else ()):
                if isinstance(item, GlobalVar):
                    self.fail(
                        "BC001",
                        f"the code generator has no case for a GlobalVar here (do not have a default for GlobalVar): "
                        f"@{item.name} is a value, not the callee of a call",
                        at,
                        "build with as_in='fixed': a global function as a value is a closure with no captures",
                    )

    def value(self, value: Expr, at: Node, dst: Destination | None = None) -> Argument:
        """Compile `value`; literals and names cost no instruction."""
        match value:
            case Var():
                return self.argument_of[value]
            case Call():
                return self.called(value, at, dst)
            case Constant(data=data):
                return self.constants.add(data)
            case GlobalVar(name=name) | ExternFunc(name=name):
                return FunctionRef(self.functions.refer(name))
            case PrimValue():
                return self.scalar(value, at)
            case ShapeExpr(values=dims):
                sizes = tuple(constant_value(item) for item in dims)
                known = tuple(item for item in sizes if item is not None)
                if len(known) < len(sizes):
                    return self.not_lowered("a symbolic shape", "VMShapeLower", value, at)
                return self.constants.add(ShapeConstant(known))
            case DataTypeImm(value=name):
                return self.constants.add(DTypeConstant(name))
            case Null():
                return VOID
            case Tuple(fields=fields):
                return self.call("vm.builtin.make_tuple", [self.value(item, at) for item in fields], at)
            case TupleGetItem(tuple_value=source, index=index):
                return self.call("vm.builtin.tuple_getitem", (self.value(source, at), Immediate(index)), at)
            case If():
                return self.conditional(value, at)
            case SeqExpr():
                return self.sequence(value, at)
            case Function():
                return self.not_lowered("a local function", "LambdaLift", value, at)
            case _:
                return self.fail("BC003", f"the machine has no value for {type(value).__name__}", at)

    def not_lowered(self, what: str, pass_name: str, value: Node, at: Node) -> Special:
        place = value if self.log.locate(value) is not None else at
        return self.fail(
            "BC002", f"{what} is left in the module; the machine cannot run it", place, f"run {pass_name} first"
        )

    def scalar(self, value: PrimValue, at: Node) -> Argument:
        match value.value:
            case IntImm(value=number):
                return Immediate(number) if abs(number) <= IMMEDIATE_LIMIT else self.constants.add(number)
            case FloatImm(value=number):
                return self.constants.add(number)
            case StringImm(value=text):
                return self.constants.add(text)
            case _:
                return self.not_lowered("a scalar computation", "VMShapeLower", value, at)

    def conditional(self, value: If, at: Node) -> Register:
        """`read_if_cond`, then both branches into one register."""
        condition = self.call("vm.builtin.read_if_cond", (self.value(value.condition, at),), at)
        assert isinstance(condition, Register), "a fresh register"
        jump = self.emit(IfInstruction(condition, 0), at)
        then_at, else_at = (result_node(item, self.log) for item in (value.true_branch, value.false_branch))
        then_value = self.value(value.true_branch, then_at)
        merged = self.register()
        self.call("vm.builtin.copy", (then_value,), then_at, dst=merged)
        skip = self.emit(GotoInstruction(0), then_at)
        self.instructions[jump] = IfInstruction(condition, len(self.instructions) - jump)
        else_value = self.value(value.false_branch, else_at)
        self.call("vm.builtin.copy", (else_value,), else_at, dst=merged)
        self.instructions[skip] = GotoInstruction(len(self.instructions) - skip)
        return merged

    def called(self, call: Call, at: Node, dst: Destination | None) -> Argument:
        match call.op:
            case Op(name="relax.device"):
                # Data, not a call: the type of a device and its number.
                words = (show_prim(item.value) for item in call.args if isinstance(item, PrimValue))
                return self.constants.add(":".join(words))
            case Op(name=name):
                return self.operator(call, name, at, dst)
            case ExternFunc(name=name):
                return self.call(name, self.arguments(call.args, at), at, dst=dst)
            case GlobalVar(name=name):
                found = self.functions.function(name)
                is_kernel = found is not None and not isinstance(found, Function)
                is_dropped = is_kernel and dst is VOID
                return self.call(name, self.arguments(call.args, at), at, dst=VOID if is_dropped else None)
            case callee:
                arguments = (VM, self.value(callee, at), *self.arguments(call.args, at))
                return self.call("vm.builtin.invoke_closure", arguments, at)

    def arguments(self, args: Iterable[Expr], at: Node) -> list[Argument]:
        return [self.value(item, at) for item in args]

    def operator(self, call: Call, name: str, at: Node, dst: Destination | None) -> Argument:
        """Compile what the machine has of its own; any other operator is evaluated by the machine."""
        lowered_by = _LOWERED_BY.get(name)
        if lowered_by is not None:
            return self.not_lowered(name.removeprefix("relax."), lowered_by, call, at)
        match name, call.args:
            case "relax.null_value", _:
                return VOID
            case "relax.vm.kill_object", (victim,):
                held = self.value(victim, at)
                return self.call("vm.builtin.null_value", (), at, dst=held) if isinstance(held, Register) else VOID
            case "relax.vm.alloc_tensor", (storage, offset, shape, dtype, *_):
                return self.call("vm.builtin.alloc_tensor", self.arguments((storage, offset, shape, dtype), at), at)
            case "relax.vm.alloc_storage", args:
                return self.call("vm.builtin.alloc_storage", (VM, *self.arguments(args, at)), at)
            case "relax.call_builtin_with_ctx", (ExternFunc(name=builtin), Tuple(fields=args)):
                return self.call(builtin, (VM, *self.arguments(args, at)), at, dst=dst)
            case "relax.call_pure_packed", (ExternFunc(name=packed), *args):
                return self.call(packed, self.arguments(args, at), at, dst=dst)
            case "relax.make_closure" | "relax.vm.call_tir_dyn", (callee, Tuple(fields=args)):
                return self.call(BUILTIN_OF[name], self.arguments((callee, *args), at), at, dst=dst)
            case "relax.invoke_closure" | "relax.invoke_pure_closure", (callee, Tuple(fields=args)):
                return self.call("vm.builtin.invoke_closure", (VM, *self.arguments((callee, *args), at)), at)
            case _:
                return self.call(BUILTIN_OF.get(name, name), self.arguments(call.args, at), at, dst=dst)


def _is_void(type_: Type | None) -> bool:
    return isinstance(type_, TupleType) and not type_.fields


_WITHOUT_VARIABLES = (*LEAVES, Type)
"""What no variable stands in, other than itself."""


def _used_variables(function: Function) -> set[Node]:
    """The variables that are read somewhere, not only bound."""
    used: set[Node] = set()
    rest: list[Node] = [function.body]
    while rest:
        match rest.pop():
            case SeqExpr(blocks=blocks, body=body):
                parts: Iterable[Node] = (*(item.value for block in blocks for item in block.bindings), body)
            case item:
                parts = item.PARTS(item)
        rest += (part for part in parts if part not in used and not isinstance(part, _WITHOUT_VARIABLES))
        used.update(parts)
    return used


def compile_module(
    module: IRModule, log: RewriteLog, before: Iterable[IRModule] = (), *, as_in: AsIn = "fixed"
) -> Executable:
    """Compile `module`, which the default pipeline lowered; `log` leads its nodes back to the user's text.

    `before` are the modules that it was made from, the latest first; see `infer`.
    `as_in="reported"` refuses a global function as a value outside a call, as the code generator of 2022 did.

    Raises:
        CompileError: something that the machine does not have was left in the module.
    """
    functions, constants = FunctionTable(module), ConstantPool()
    type_of = TypesWhenRead(lambda: infer(module, before).types)
    instructions: list[Instruction] = []
    nodes: list[Node] = []
    diagnostics: list[Diagnostic] = []
    for var, function in module.relax_functions:
        functions.refer(var.name)
        compiler = FunctionCompiler(functions, constants, type_of, log, is_as_reported=as_in == "reported")
        compiler.compile(function)
        start = len(instructions)
        instructions += compiler.instructions
        nodes += compiler.nodes
        diagnostics += compiler.diagnostics
        functions.define(_entry(var.name, function, compiler, start))
    if diagnostics:
        raise CompileError(diagnostics)
    return Executable(
        tuple(functions.entries),
        tuple(instructions),
        tuple(nodes),
        tuple(constants.values),
        {var.name: function for var, function in module.prim_funcs},
        module,
        log,
        dict(functions.index_of),
    )


def _entry(name: str, function: Function, compiler: FunctionCompiler, start: int) -> FunctionEntry:
    return FunctionEntry(
        kind="vm",
        name=name,
        start=start,
        end=start + len(compiler.instructions),
        param_count=len(function.params),
        register_count=len(compiler.register_vars),
        param_names=tuple(param.name for param in function.params),
        register_vars=tuple(compiler.register_vars),
        is_entry=not function.is_private,
        node=function,
    )
