"""The rules of well-formedness, each of which names the culprit.

See: tvm/src/relax/analysis/well_formed.cc
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from relax_core.check.infer import Inference
from relax_core.check.kept.flat import TIR_CALLS
from relax_core.check.prim.prim_scopes import scopes
from relax_core.check.purity import impurity_of, is_unchecked
from relax_core.check.rules import remedies
from relax_core.check.rules.declarations import (
    direct_calls,
    known_devices,
    named_as_outside,
    promised_purity,
    written_inputs,
)
from relax_core.check.rules.unbound import unbound, without_data
from relax_core.check.rules.visits import NOTHING_KNOWN, BindingContext, DefUses, Known, facts_of
from relax_core.check.typing_context import fields_of, show_callee
from relax_core.diagnostics import Diagnostic, Severity
from relax_core.ir.attrs import Attrs, attr
from relax_core.ir.expr import (
    Binding,
    Call,
    Constant,
    DataflowVar,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    If,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleType,
    Type,
    Var,
    op_name,
)
from relax_core.ir.module import BaseFunc, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.source import Span


@dataclass(frozen=True, slots=True)
class Sound:
    """What is kept of a module in which nothing is wrong: its definitions, and by function the contexts of bindings."""

    definitions: Mapping[GlobalVar, BaseFunc]
    contexts: Mapping[str, Mapping[Binding, BindingContext]]
    global_infos: Attrs


@dataclass(frozen=True, slots=True)
class Checked:
    """A module with what the rules read: its types, and the facts of each Relax function."""

    module: IRModule
    inference: Inference
    facts: tuple[tuple[GlobalVar, Function, DefUses], ...]


Check: TypeAlias = Callable[[Checked], Iterator[Diagnostic]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, the code of its diagnostics, and the check."""

    name: str
    code: str
    check: Check


def well_formed(
    module: IRModule, inference: Inference, earlier: Sound | None = None
) -> tuple[tuple[Diagnostic, ...], Sound]:
    """Return what breaks the rules, in the order of the rules, and what to keep of the module if nothing is wrong.

    Bindings of an `earlier` form of the module are not looked at again where all that their rules read is as it was.
    """
    known = _known(module, earlier)
    facts = tuple(
        (var, function, facts_of(function, known.get(var.name, NOTHING_KNOWN)))
        for var, function in module.relax_functions
    )
    checked = Checked(module, inference, facts)
    found = tuple(diagnostic for rule in RULES for diagnostic in rule.check(checked))
    definitions = {item.var: item.function for item in module}
    return found, Sound(definitions, {var.name: item.contexts for var, _, item in facts}, module.global_infos)


def _known(module: IRModule, earlier: Sound | None) -> Mapping[str, Known]:
    """Return what an earlier form tells of each function: nothing if the devices that it lists are others."""
    if earlier is None or earlier.global_infos != module.global_infos:
        return {}
    same = frozenset(
        item.var
        for item in module
        if isinstance(item.function, PrimFunc) and earlier.definitions.get(item.var) is item.function
    )
    return {name: Known(contexts, same) for name, contexts in earlier.contexts.items()}


def _place(*nodes: Node | None) -> Span | None:
    """Return the span of the first node that has one."""
    return next((node.span for node in nodes if node is not None and node.span is not None), None)


def _diagnostic(
    code: str, message: str, *nodes: Node | None, hint: str = "", severity: Severity = "error"
) -> Diagnostic:
    return Diagnostic(code, message, _place(*nodes), hint, severity)


def _defined_once(checked: Checked) -> Iterator[Diagnostic]:
    for _, _, facts in checked.facts:
        for item in facts.definitions:
            if item.is_again and not isinstance(item.place, Function):
                yield _diagnostic(
                    "WF001", f"{item.var.name} is bound twice", item.place, item.var, hint="bind a variable of its own"
                )


def _defined_before_use(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        yield from unbound(function, facts)


def _data_is_there(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        yield from without_data(function, (visit.node for kind in (Call, Constant) for visit in facts.visits[kind]))


def _dataflow_vars_inside(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        for use in facts.wrong_uses:
            if use.problem == "dataflow":
                yield _diagnostic(
                    "WF003",
                    f"{use.var.name} is visible only inside its dataflow block",
                    use.holder,
                    function,
                    hint=f"name it in R.output({use.var.name}) at the end of the block",
                )
        for item in facts.definitions:
            if isinstance(item.var, DataflowVar) and not item.is_in_dataflow and not item.is_again:
                yield _diagnostic(
                    "WF015", f"the dataflow variable {item.var.name} is bound outside a dataflow block", item.place
                )


def _pure_dataflow(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        for visit in facts.visits[Call]:
            words = impurity_of(visit.node, checked.inference.types)
            if words is None:
                continue
            if visit.is_in_dataflow:
                yield _diagnostic(
                    "WF004",
                    f"this stands in a dataflow block, and {words}",
                    visit.node,
                    visit.holder,
                    hint="move the call out of the block",
                )
            elif visit.function.is_pure and not is_unchecked(function):
                yield _diagnostic(
                    "WF005",
                    f"the function is declared pure, but {words}",
                    visit.node,
                    visit.holder,
                    hint=remedies.as_impure("write @R.function(pure=False)", visit.function),
                )


def _symbols_defined(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        reported: set[PrimVar] = set()
        for item in facts.wrong_symbols:
            if item.symbol in reported:
                continue
            reported.add(item.symbol)
            yield _diagnostic(
                "WF006",
                f"the symbolic dimension {item.symbol.name} has no value here",
                item.holder,
                function,
                hint="a parameter's type or R.match_cast must have it as a whole dimension",
            )


def _unique_params(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        for item in facts.definitions:
            if item.is_again and isinstance(item.place, Function):
                yield _diagnostic("WF007", f"the parameter {item.var.name} is there twice", item.var, function)


def _globals_exist(checked: Checked) -> Iterator[Diagnostic]:
    definition_of = {item.var.name: item for item in reversed(checked.module.definitions)}
    for _, function, facts in checked.facts:
        for visit in facts.visits[GlobalVar]:
            match visit.node:
                case GlobalVar(name=name) as var:
                    found = definition_of.get(name)
                    if found is None:
                        names = ", ".join(checked.module.names)
                        yield _diagnostic(
                            "WF008", f"the module has no function {name}", var, visit.holder, function,
                            hint=f"it has {names}",
                        )  # fmt: skip
                    elif found.var is not var:
                        yield _diagnostic(
                            "WF008",
                            f"{name} is not the global of this module of that name",
                            var,
                            visit.holder,
                            function,
                        )
                case _:
                    pass


def _unique_globals(checked: Checked) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for item in checked.module:
        if item.var.name in seen:
            yield _diagnostic("WF014", f"the module has two functions {item.var.name}", item.function, item.var)
        seen.add(item.var.name)


def _private_without_symbol(checked: Checked) -> Iterator[Diagnostic]:
    for item in checked.module:
        if item.function.is_private and attr(item.function.attrs, "global_symbol") is not None:
            yield _diagnostic(
                "WF009",
                f"{item.var.name} is private and has a global_symbol",
                item.function,
                hint="remove private=True, or the attribute",
            )


def _no_if_in_dataflow(checked: Checked) -> Iterator[Diagnostic]:
    for _, _, facts in checked.facts:
        for visit in facts.visits[If]:
            if visit.is_in_dataflow:
                yield _diagnostic(
                    "WF010",
                    "a dataflow block has no conditional",
                    visit.node,
                    visit.holder,
                    hint="move the conditional out of the block",
                )


def _callees(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        for visit in (*facts.visits[Call], *facts.visits[Op]):
            match visit.node:
                case Call(op=Constant() | PrimValue() | ShapeExpr() | Tuple() | DataTypeImm() | Null()) as call:
                    yield _diagnostic(
                        "WF011", f"{type(call.op).__name__} is not a callee", call, visit.holder, function
                    )
                case Op(name=name) as op:
                    yield _diagnostic(
                        "WF011",
                        f"the operator {name} is used as a value",
                        op,
                        visit.holder,
                        function,
                        hint="wrap it in a function",
                    )
                case _:
                    pass


def _inline_tuples(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        for visit in facts.visits[Call]:
            match visit.node:
                case Call(args=(callee, inputs, *_)) as call if op_name(call) in TIR_CALLS:
                    type_ = checked.inference.types.get(inputs)
                    is_packed = op_name(call) == "relax.call_dps_packed"
                    if not isinstance(inputs, Tuple) and not (isinstance(type_, TupleType) and is_packed):
                        yield _not_a_tuple(callee, inputs, type_, _place(call, function))
                case _:
                    pass


def _not_a_tuple(callee: Expr, inputs: Expr, type_: Type | None, place: Span | None) -> Diagnostic:
    name, shown, related = "t", "another expression", ()
    if isinstance(inputs, Var):
        name, shown = inputs.name, f"the variable {inputs.name}"
        related = () if inputs.span is None else ((f"{name} is defined here", inputs.span),)
    is_known = isinstance(type_, TupleType)
    hint = f"give its fields: {fields_of(name, type_)}" if is_known else f"write ({name},) for one input"
    message = f"the inputs of {show_callee(callee)} are written as a tuple in the call, got {shown}"
    return Diagnostic("WF012", message, place, hint, related=related)


def _prim_funcs_complete(checked: Checked) -> Iterator[Diagnostic]:
    for item in checked.module:
        match item.function:
            case PrimFunc(params=params, buffers=buffers) as prim_func:
                for buffer in buffers:
                    if buffer.handle not in params:
                        yield _diagnostic(
                            "WF013",
                            f"the buffer {buffer.buffer.name} of {item.var.name} has a handle that is not a parameter",
                            buffer,
                            prim_func,
                        )
            case _:
                pass


def _outside_names(checked: Checked) -> Iterator[Diagnostic]:
    return named_as_outside(checked.module)


def _promises(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, _ in checked.facts:
        yield from promised_purity(function)


def _devices(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        yield from known_devices(checked.module, function, facts)


def _in_place(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        for visit in facts.visits[Call]:
            if isinstance(visit.node, Call):
                for words in written_inputs(visit.node, checked.inference.types):
                    yield _diagnostic("WF020", words, visit.node, visit.holder, function)


def _prim_func_calls(checked: Checked) -> Iterator[Diagnostic]:
    for _, function, facts in checked.facts:
        for visit in facts.visits[Call]:
            if isinstance(visit.node, Call):
                for words in direct_calls(visit.node, checked.module):
                    hint = "R.call_tir(f, (x,), out_ty=...) allocates the results"
                    yield _diagnostic("WF021", words, visit.node, visit.holder, function, hint=hint)


def _prim_scopes(checked: Checked) -> Iterator[Diagnostic]:
    for _, prim_func in checked.module.prim_funcs:
        yield from scopes(prim_func)


RULES: tuple[Rule, ...] = (
    Rule("functions of a module have different names", "WF014", _unique_globals),
    Rule("parameters are different variables", "WF007", _unique_params),
    Rule("a variable is bound once", "WF001", _defined_once),
    Rule("a variable is bound before it is used", "WF002", _defined_before_use),
    Rule("the data of a constant is in the text", "WF025", _data_is_there),
    Rule("a dataflow variable stays in its block", "WF003", _dataflow_vars_inside),
    Rule("a dataflow block and a pure function have no side effects", "WF004", _pure_dataflow),
    Rule("a symbolic dimension has a value before it is used", "WF006", _symbols_defined),
    Rule("a global is a function of the module", "WF008", _globals_exist),
    Rule("a private function has no global_symbol", "WF009", _private_without_symbol),
    Rule("a dataflow block has no conditional", "WF010", _no_if_in_dataflow),
    Rule("a callee can be called", "WF011", _callees),
    Rule("inputs of call_tir are a tuple", "WF012", _inline_tuples),
    Rule("a buffer of a prim func belongs to a parameter", "WF013", _prim_funcs_complete),
    Rule("a global_symbol is the name of the function", "WF017", _outside_names),
    Rule("a promise of purity is not taken back", "WF018", _promises),
    Rule("a virtual device is listed in the module", "WF019", _devices),
    Rule("inputs written in place are there, and are what is returned", "WF020", _in_place),
    Rule("a prim func is called with all its parameters", "WF021", _prim_func_calls),
    Rule("a variable of a prim func is defined once, around its uses", "WF022", _prim_scopes),
)
