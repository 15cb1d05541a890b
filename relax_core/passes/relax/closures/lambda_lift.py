"""LambdaLift: local functions become functions of the module, and closures become explicit.

Captures are a fixpoint over local functions that refer to each other (`captures.py`); dimensions that no parameter
gives are among them. Relay's pass of this name has polymorphic literals instead, and finds equal ones.

See: Johnsson, Lambda Lifting: Transforming Programs to Recursive Equations, 1985
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from relax_core.check.purity import is_unchecked
from relax_core.ir.expr import (
    OBJECT,
    BindingBlock,
    Call,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimType,
    PrimValue,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.builder import Names, normalize
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.closures.captures import (
    LocalFunction,
    binding_symbols,
    captured_type,
    local_bindings,
    local_functions,
)
from relax_core.passes.relax.closures.invoked_results import invoked, invoking_results
from relax_core.passes.relax.closures.lifted_names import Path, lifted_names
from relax_core.passes.relax.closures.result_types import map_symbols, result_type, without_shapes, without_unbound
from relax_core.passes.relax.effects import has_effect

Style = Literal["tvm", "2022"]


@dataclass(frozen=True, slots=True)
class LambdaLiftOptions:
    """`names` is "tvm" (`main_closure`, a plain global takes the variable's place) or "2022" (`lifted_func_0`)."""

    names: Style = "tvm"


def run(module: IRModule, options: LambdaLiftOptions, ctx: PassContext) -> IRModule:
    """Lift every local function, the outermost level of all functions first, until none is left.

    A closure that a lifted function returns is an object, as in TVM, if it is only called, and keeps the type of the
    function if it goes elsewhere, where TVM stops. A closure with effects is called by `invoke_closure`, in TVM as a
    pure one.
    """
    planned = lifted_names(module)
    naming = _Naming(planned, Names((*module.names, *(name for names in planned.values() for name in names))))
    if options.names == "2022":
        module = change_functions(module, ctx, _declaring_results(ctx, ctx.types(module)))
    while any(local_bindings(function) for _, function in module.relax_functions):
        level = _Level(options, ctx, ctx.types(module), naming)
        lifted = change_functions(module, ctx, level.function)
        module = normalize(ctx.derive(lifted.with_definitions(*level.lifted), module), ctx.log)
    if options.names == "2022":
        return _declaring_effects(module, ctx)
    return invoking_results(module, frozenset(naming.path_of), ctx)


def _declaring_effects(module: IRModule, ctx: PassContext) -> IRModule:
    """Declare as impure what calls closures, by itself or through others: 2022 did not know pure closures."""
    after = change_functions(module, ctx, _declaring_own_effects(ctx, ctx.types(module)))
    while after is not module:
        module = after
        after = change_functions(module, ctx, _declaring_own_effects(ctx, ctx.types(module)))
    return module


def _declaring_own_effects(ctx: PassContext, type_of: Mapping[Node, Type]) -> Callable[[GlobalVar, Function], Function]:
    def change(name: GlobalVar, function: Function) -> Function:
        if not function.is_pure or is_unchecked(function) or not has_effect(function.body, type_of):
            return function
        ctx.remark(function, "applied", f"@{name.name} is declared impure: it calls closures, or what calls them")
        return replace(function, is_pure=False)

    return change


def _declaring_results(ctx: PassContext, type_of: Mapping[Node, Type]) -> Callable[[GlobalVar, Function], Function]:
    """Return a change that declares the results of functions as 2022's normaliser did."""

    def change(name: GlobalVar, function: Function) -> Function:
        if function.ret_type is not None:
            return function
        declared = replace(function, ret_type=without_shapes(result_type(function, type_of)))
        ctx.remark(function, "applied", f"@{name.name} declares its result, as in 2022")
        return ctx.derive(declared, function)

    return change


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a local function goes, and what it captures: variables and symbols."""

    global_var: GlobalVar
    local: LocalFunction

    @property
    def captures(self) -> tuple[Expr, ...]:
        """What is captured, where the function stands."""
        return tuple(PrimValue(item) if isinstance(item, PrimVar) else item for item in self.local.captured)


@dataclass(slots=True)
class _Naming:
    """The names that are left to give, and the paths of those that were given."""

    planned: Mapping[Path, deque[str]]
    taken: Names
    path_of: dict[str, Path] = field(default_factory=dict[str, Path])
    count: int = 0

    def name(self, outer: str, var: Var, style: Style) -> str:
        """Name the function that `var` is in the global function `outer`."""
        if style == "2022":
            self.count += 1
            return self.taken.fresh(f"lifted_func_{self.count - 1}")
        path = (*self.path_of.get(outer, (outer,)), var.name)
        left = self.planned.get(path)
        # A function is met again if what was to take its place was declined.
        name = left.popleft() if left else self.taken.fresh(f"{path[0]}_{path[-1]}")
        self.path_of[name] = path
        return name


@dataclass(slots=True)
class _Level:
    """Lifts the local functions that stand directly in the module's functions."""

    options: LambdaLiftOptions
    ctx: PassContext
    type_of: Mapping[Node, Type]
    naming: _Naming
    lifted: list[Definition] = field(default_factory=list[Definition])

    def function(self, name: GlobalVar, function: Function) -> Function:
        """Return the function called `name` with its local functions lifted."""
        found = local_functions(function, self.type_of)
        if not found:
            return function
        self.check_order(function, found)
        targets = {item.var: self.target(name.name, item) for item in found}
        for target in targets.values():
            self.lift(target, targets)
        closed = self.ctx.rewrite(function, self.close(targets))
        result = self.ctx.rewrite(closed, self.invoke(targets), empty_block)
        if self.options.names == "tvm":
            plain = {var: item.global_var for var, item in targets.items() if not item.local.is_closure}
            result = self.ctx.substitute(result, dict(plain))
        return result

    def check_order(self, function: Function, found: tuple[LocalFunction, ...]) -> None:
        """A closure is made where its function stands: what it captures must be bound by then."""
        order = {item.var: number for number, item in enumerate(preorder(function)) if isinstance(item, VarBinding)}
        for local in found:
            for item in local.captures:
                if order.get(item, -1) > order[local.var]:
                    self.ctx.fail(
                        "PS006",
                        f"{local.var.name} needs {item.name}, through a function that it refers to, before it is bound",
                        local.binding,
                        f"define {local.var.name} after {item.name}",
                    )

    def target(self, outer: str, local: LocalFunction) -> _Target:
        name = self.naming.name(outer, local.var, self.options.names)
        self.explain(name, local)
        return _Target(self.ctx.derive(GlobalVar(name), local.binding), local)

    def explain(self, name: str, local: LocalFunction) -> None:
        """Say what is captured, and where it is used."""
        if not local.is_closure:
            self.ctx.remark(local.binding, "applied", f"{local.var.name} is now @{name}; it captures nothing")
        for item in local.captures:
            users = tuple(part for part in preorder(local.function) if item in children(part))[:1]
            how = "which its body uses" if users else "for a local function that it refers to"
            self.ctx.remark(local.binding, "applied", f"@{name} captures {item.name}, {how}", (item, *users))
        for item in local.symbols:
            message = f"@{name} captures the dimension {item.name}: no parameter of its own gives it"
            self.ctx.remark(local.binding, "applied", message, (item,))

    def close(self, targets: Mapping[Var, _Target]) -> Rule:
        """Return the rule for the definitions."""

        def close(node: Node) -> Node | tuple[Node, ...] | None:
            """Rule: local function -> global function or make_closure."""
            match node:
                case VarBinding(var=var, value=Function()) if var in targets:
                    target = targets[var]
                    if target.local.is_closure:
                        call = Call(Op("relax.make_closure"), (target.global_var, Tuple(target.captures)))
                        return replace(node, value=call)
                    return replace(node, value=target.global_var) if self.options.names == "2022" else ()
                case _:
                    return None

        return close

    def invoke(self, targets: Mapping[Var, _Target]) -> Rule:
        """Return the rule for the calls."""

        def invoke(node: Node) -> Node | None:
            """Rule: f(x) -> invoke_closure(f, (x,))."""
            match node:
                case Call(op=Var() as callee) if callee in targets and targets[callee].local.is_closure:
                    is_pure = targets[callee].local.function.is_pure and self.options.names == "tvm"
                    return invoked(node, self.type_of.get(node, OBJECT), is_pure=is_pure)
                case _:
                    return None

        return invoke

    def lift(self, target: _Target, targets: Mapping[Var, _Target]) -> None:
        """Make the global function of one local function."""
        local, function = target.local, target.local.function
        symbols = self.fresh_symbols(local)
        param_of = self.captured_params(local, symbols)
        inner = self.ctx.rewrite(function, self.refer(targets, param_of), call_directly)
        vars_: dict[Var, Expr] = {item: param_of[item] for item in local.captures}
        body = self.ctx.substitute(inner, vars_, symbols)
        params = (*body.params, *param_of.values())
        given = (item for source, item in param_of.items() if isinstance(source, Var))
        bound = {symbol for item in (*body.params, *given) for symbol in binding_symbols(item.annotation)}
        result = map_symbols(result_type(function, self.type_of), symbols)
        is_2022 = self.options.names == "2022"
        complete = replace(
            body,
            params=params,
            ret_type=without_shapes(result) if is_2022 else without_unbound(result, bound),
            is_private=not is_2022,
        )
        self.ctx.derive(complete, function, rule="local function -> global function")
        self.lifted.append(self.ctx.derive(Definition(target.global_var, complete), local.binding))

    def fresh_symbols(self, local: LocalFunction) -> dict[PrimVar, PrimExpr]:
        """Give the global function its own symbols."""
        types = [captured_type(self.type_of.get(item, OBJECT)) for item in local.captures]
        used = [
            *free_symbols(local.function),
            *local.symbols,
            *(symbol for item in types for symbol in free_symbols(item)),
        ]
        return {item: PrimVar(item.name, item.dtype) for item in used}

    def captured_params(self, local: LocalFunction, symbols: Mapping[PrimVar, PrimExpr]) -> dict[Node, Var]:
        """Make a parameter for each captured variable and each captured symbol."""
        inside = (item for item in preorder(local.function) if isinstance(item, Var))
        is_2022 = self.options.names == "2022"
        names = Names(item.name for item in inside if is_2022 or item not in local.captures)
        params: dict[Node, Var] = {}
        for item in local.captured:
            match item:
                case PrimVar():
                    annotation = PrimType(item.dtype, symbols[item])
                case _:
                    annotation = map_symbols(captured_type(self.type_of.get(item, OBJECT)), symbols)
            params[item] = self.ctx.derive(Var(names.fresh(item.name), annotation), item)
        return params

    def refer(self, targets: Mapping[Var, _Target], param_of: Mapping[Node, Var]) -> Rule:
        """Return the rule for references to local functions in the body of a lifted one."""

        def refer(node: Node) -> Node | None:
            """Rule: reference to a local function -> its global function, with the captures at hand."""
            if not (isinstance(node, Var) and node in targets):
                return None
            target = targets[node]
            if not target.local.is_closure:
                return target.global_var
            captured = (
                PrimValue(item) if isinstance(item, PrimVar) else param_of[item] for item in target.local.captured
            )
            return Call(Op("relax.make_closure"), (target.global_var, Tuple(tuple(captured))))

        return refer


def call_directly(node: Node) -> Node | None:
    """Rule: make_closure(f, (c,))(x) -> f(x, c)."""
    match node:
        case Call(op=Call(op=Op(name="relax.make_closure"), args=(GlobalVar() as callee, Tuple(fields=captures)))):
            return replace(node, op=callee, args=(*node.args, *captures))
        case _:
            return None


def empty_block(node: Node) -> tuple[Node, ...] | None:
    """Rule: empty block -> nothing."""
    return () if isinstance(node, BindingBlock) and not node.bindings else None


PASS = Pass(
    "LambdaLift",
    "Lifts local functions to the module; what they capture becomes parameters, their values become closures.",
    run,
    options=LambdaLiftOptions,
    needs=("normal form",),
    gives=("no local functions",),
    see="tvm/src/relax/transform/lambda_lift.cc",
)
