"""LambdaLift: function literals become functions of the module, which take what the literals capture.

A literal is lifted where it stands, inner ones first, and may refer to itself only, so its captures are its free
variables. Relax's pass of this name lifts functions that refer to each other: their captures are a fixpoint, symbolic
dimensions are among them, and closures become operators.

See: tvm/src/relay/transforms/lambda_lift.cc, v0.19
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from relax_core.analysis.regions import is_closed
from relax_core.ir.attrs import attr, attrs_of
from relax_core.ir.equality import structural_equal, structural_hash
from relax_core.ir.expr import Call, Expr, Function, FuncType, GlobalVar, Type, TypeVar, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.ops.relay.show import show_type
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.copying import at_types, copied, free_type_vars
from relax_core.passes.relay.infer_type import is_open
from relax_core.passes.relay.normal_form.to_basic_block_normal_form import to_basic_block_normal_form
from relax_core.passes.relay.rebuild import change_functions, let_vars, rebuild

CLOSURE = "Closure"
_DIGITS = 16


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Lift each function literal: one that captures nothing is then a global function.

    One that captures is the result of a global function of what it captures, which is marked `Closure`. Equal
    literals share one function. A value that a literal shares with its surroundings first gets a name.
    """
    named = to_basic_block_normal_form(module, ctx)
    lifting = _Lifting(ctx, ctx.types(named), Names(named.names))
    changed = change_functions(named, lifting.function, ctx)
    if not lifting.lifted:
        return module
    return changed.with_definitions(*lifting.lifted.values())


def with_polymorphic_functions(module: IRModule, ctx: PassContext) -> IRModule:
    """Lift each literal with type variables of its own that captures nothing; its name is put where a let gave one."""
    named = to_basic_block_normal_form(module, ctx)
    lifting = _Lifting(ctx, ctx.types(named), Names(named.names))
    changed = change_functions(named, lifting.polymorphic, ctx)
    return changed.with_definitions(*lifting.lifted.values()) if lifting.lifted else module


@dataclass(slots=True)
class _Lifting:
    ctx: PassContext
    types: Mapping[Node, Type]
    names: Names
    lifted: dict[str, Definition] = field(default_factory=dict[str, Definition])

    def function(self, function: Function) -> Function:
        if attr(function.attrs, CLOSURE):
            self.ctx.remark(function, "missed", "the literal stays: the function is marked as one that makes a closure")
            return function
        recursive = {let.value: var for var, let in let_vars(function).items() if isinstance(let.value, Function)}

        def change(old: Node, rebuilt: Node) -> Node:
            if old is function or not isinstance(rebuilt, Function):
                return rebuilt
            if is_closed(rebuilt):
                self.ctx.remark(old, "missed", "the literal stays: it stands for one operator, or is for a target")
                return rebuilt
            return self.lift(old, rebuilt, recursive.get(old) if isinstance(old, Function) else None)

        return rebuild(function, change, self.ctx)

    def polymorphic(self, function: Function) -> Function:
        """Return a function without the literals in it that have type variables and capture nothing."""
        recursive = {let.value: var for var, let in let_vars(function).items() if isinstance(let.value, Function)}

        def change(old: Node, rebuilt: Node) -> Node:
            match old, rebuilt:
                case Let(value=Function(type_params=(_, *_))), Let(var=var, value=GlobalVar() as name, body=body):
                    made = copied(body, {var: name}, self.ctx)
                    self.ctx.log.replace(rebuilt, made, "call a function by its name", known=(name,))
                    return made
                case Function(type_params=(_, *_)), Function() if old is not function and not is_closed(rebuilt):
                    own = recursive.get(old)
                    is_whole = all(var is own for var in free_vars(rebuilt))
                    return self.lift(old, rebuilt, own) if is_whole else rebuilt
                case _:
                    return rebuilt

        return rebuild(function, change, self.ctx)

    def lift(self, old: Node, function: Function, own: Var | None) -> Expr:
        """Add the function that a literal becomes, and return what stands in its place.

        `own` is the variable that a let binds to the literal; in its body it stands for the literal.
        """
        outer = free_vars(function)
        captured = tuple(var for var in outer if var is not own)
        itself = own if own is not None and own in outer else None
        signature = self.types[old]
        digest = _digest(function, signature, tuple(self.types[var] for var in captured))
        var = GlobalVar(f"lifted_name{digest}")
        made = self.made(function, signature, captured, None if itself is None else (itself, var))
        known = self.lifted.get(digest)
        if known is not None and structural_equal(known.function, made):
            var = known.var
            self.ctx.remark(old, "applied", f"the function is equal to one that is lifted: @{var.name}", (known,))
        else:
            if known is not None or self.names.fresh(var.name) != var.name:
                var = GlobalVar(self.names.fresh(var.name))
                made = self.made(function, signature, captured, None if itself is None else (itself, var))
                digest = var.name
            self.lifted[digest] = self.ctx.derive(Definition(var, made), old)
            words = ", ".join(f"%{item.name}" for item in captured)
            self.ctx.remark(
                old, "applied", f"the function becomes @{var.name}" + (f"; it captures {words}" * bool(words))
            )
        result: Expr = Call(var, captured) if captured else var
        self.ctx.log.replace(function, result, "lift a function", known=captured)
        return result

    def made(
        self, function: Function, signature: Type, captured: tuple[Var, ...], own: tuple[Var, GlobalVar] | None
    ) -> Function:
        """Return the global function of a literal; `own` is the variable by which it knows itself, and its name."""
        outer_types = tuple(self.types[var] for var in captured)
        open_types = free_type_vars(function, *outer_types, signature)
        open_types = tuple(item for item in open_types if item not in function.type_params)
        fresh = {item: TypeVar(item.name) for item in (*open_types, *function.type_params)}
        inner: dict[Var, Expr] = {}
        taken: list[Var] = []
        for var, type_ in zip(captured, outer_types, strict=True):
            taken.append(Var(var.name, self.declared(type_, fresh), span=var.span))
            inner[var] = taken[-1]
        if own is not None:
            inner[own[0]] = self.ctx.derive(Call(own[1], tuple(taken)), function) if captured else own[1]
        for param in function.params:
            type_ = self.types.get(param, param.annotation)
            inner[param] = Var(param.name, None if type_ is None else self.declared(type_, fresh), span=param.span)
        copy = copied(function, inner, self.ctx, fresh)
        ret = signature.ret if isinstance(signature, FuncType) else None
        own_params = tuple(fresh[item] for item in function.type_params)
        outer_params = tuple(fresh[item] for item in open_types)
        code = Function(
            copy.params, copy.body, copy.ret_type or (None if ret is None else self.declared(ret, fresh)), copy.attrs,
            type_params=own_params if captured else (*outer_params, *own_params), span=copy.span,
        )  # fmt: skip
        if not captured:
            return code
        closure = attrs_of({CLOSURE: 1})
        result = self.declared(signature, fresh)
        return Function(tuple(taken), code, result, closure, type_params=outer_params, span=function.span)

    def declared(self, type_: Type, fresh: Mapping[TypeVar, Type]) -> Type | None:
        return None if is_open(type_) else at_types(type_, fresh)


def _digest(function: Function, signature: Type, outer: tuple[Type, ...]) -> str:
    """Return digits that equal functions with equal types have in common, however their variables are called."""
    shown = "; ".join(map(show_type, (signature, *outer)))
    return hashlib.blake2b(f"{structural_hash(function)} {shown}".encode(), digest_size=_DIGITS // 2).hexdigest()


PASS = Pass(
    "LambdaLift",
    "Makes function literals functions of the module; those that capture are results of functions marked Closure.",
    run,
    dialect="relay",
    see="tvm/src/relay/transforms/lambda_lift.cc",
    reads_data=False,
)
