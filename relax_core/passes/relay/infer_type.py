"""InferType: the types that inference finds are written into the program.

See: tvm/src/relay/transforms/type_infer.cc, v0.19
"""

from dataclasses import replace

from relax_core.check.infer import infer
from relax_core.check.inference import Inference
from relax_core.diagnostics import CompileError, has_errors
from relax_core.ir.expr import AdtType, Function, FuncType, ObjectType, RefType, TupleType, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import Replacement
from relax_core.ops.relay.show import show_type
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.copying import renewed
from relax_core.passes.relay.rebuild import change_functions, rebuild

_DECLARE = "declare the type"


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Declare the types of parameters, results and bound variables that the text leaves to inference.

    Type arguments of calls stay with inference: the text of Relay has no place for them.

    Raises:
        CompileError: what inference finds wrong.
    """
    facts = infer(module)
    if has_errors(facts.diagnostics):
        raise CompileError(facts.diagnostics)
    ctx.remark_replacements(_DECLARE, _declared)
    return change_functions(module, lambda function: _annotated(function, facts, ctx), ctx, into_closed=True)


def _declared(item: Replacement) -> str:
    """Say which type is declared."""
    match item.after:
        case (Var(name=name, annotation=found),):
            what = f"%{name} has"
        case (Function(ret_type=found),):
            what = "the result of the function has"
        case _:
            raise AssertionError("a type is declared of a variable or of a result")
    assert found is not None, "what is declared is a type"
    return f"{what} the type {show_type(found)}"


def _annotated(function: Function, facts: Inference, ctx: PassContext) -> Function:
    def change(old: Node, rebuilt: Node) -> Node:
        found = facts.types.get(old)
        match rebuilt:
            case Var(annotation=declared) if found is not None and _is_news(declared, found):
                made: Node = replace(rebuilt, annotation=renewed(found))
            case Function(ret_type=declared) if isinstance(found, FuncType) and _is_news(declared, found.ret):
                made = replace(rebuilt, ret_type=renewed(found.ret))
            case _:
                return rebuilt
        return ctx.log.apply(rebuilt, made, _DECLARE)

    return rebuild(function, change, ctx, into_closed=True)


def _is_news(declared: Type | None, found: Type | None) -> bool:
    """Tell whether `found` says all of a type of which the declaration leaves something open."""
    return (declared is None or is_open(declared)) and found is not None and not is_open(found)


def is_open(type_: Type) -> bool:
    """Tell whether a part of a type is not known."""
    match type_:
        case ObjectType():
            return True
        case TupleType(fields=parts) | AdtType(args=parts):
            return any(map(is_open, parts))
        case FuncType(params=params, ret=ret):
            return params is None or is_open(ret) or any(map(is_open, params))
        case RefType(value=value):
            return is_open(value)
        case _:
            return False


PASS = Pass(
    "InferType",
    "Declares the types of parameters, results and bound variables that the text leaves to inference.",
    run,
    dialect="relay",
    see="tvm/src/relay/transforms/type_infer.cc",
    reads_data=False,
)
