"""Compile the Relax functions of a lowered module to bytecode; prim funcs become kernels."""

from typing import Literal, TypeAlias

from relax_core.bytecode.compile_function import FunctionCompiler
from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import Instruction
from relax_core.bytecode.tables import ConstantPool, FunctionTable
from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog

AsIn: TypeAlias = Literal["fixed", "reported"]


def compile_module(module: IRModule, log: RewriteLog, *, as_in: AsIn = "fixed") -> Executable:
    """Compile `module`, which the default pipeline lowered; `log` leads its nodes back to the user's text.

    `as_in="reported"` refuses a global function as a value outside a call, as the code generator of 2022 did.

    Raises:
        CompileError: something that the machine does not have was left in the module.
    """
    functions, constants = FunctionTable(module), ConstantPool()
    type_of = infer(module).types
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
