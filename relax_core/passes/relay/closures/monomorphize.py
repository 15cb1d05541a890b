"""Copies of polymorphic Relay functions, one for each combination of types that a program calls them at."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from relax_core.analysis.regions import is_closed
from relax_core.check.infer import infer
from relax_core.check.inference import Inference
from relax_core.check.relay.solver import rebuilt as with_parts
from relax_core.diagnostics import plural
from relax_core.ir.equality import same_type
from relax_core.ir.expr import VOID, Call, Expr, Function, GlobalVar, ObjectType, Op, Type, TypeVar, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children
from relax_core.ir.relay import Constructor, PatternConstructor
from relax_core.ir.rewriting.builder import Names
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.show import show_type
from relax_core.passes.core import PassContext
from relax_core.passes.relay.copying import at_types, copied
from relax_core.passes.relay.infer_type import is_open
from relax_core.passes.relay.rebuild import change_functions, rebuild

MAX_COPIES: Final = 500
MAX_PARTS: Final = 1000
MAX_NESTING: Final = 50
_SHOWN_CALLS: Final = 4
CODE: Final = "PS014"


def with_called_values(module: IRModule, ctx: PassContext) -> IRModule:
    """Return `module` with a function literal for each operator, constructor and global that is used as a value.

    So it is with a function that stands for one operator.

    The literals declare no types: each is used at one.
    """

    def value(child: Node, user: Node) -> Node:
        count = _arity(child, module)
        if count is None:
            return child
        assert isinstance(child, Expr), "what can be called is an expression"
        params = tuple(Var(f"a{k}") for k in range(count))
        return ctx.derive(Function(params, Call(child, params)), user, rule="make a function of what is called")

    def change(old: Node, rebuilt: Node) -> Node:
        match rebuilt:
            case PatternConstructor():
                return rebuilt
            case Call(op=op):
                made = map_children(rebuilt, lambda child: child if child is op else value(child, old))
            case _:
                made = map_children(rebuilt, lambda child: value(child, old))
        ctx.log.rebuilt(rebuilt, made)
        return made

    return change_functions(module, lambda function: rebuild(function, change, ctx), ctx)


def _arity(node: Node, module: IRModule) -> int | None:
    """Return the number of arguments that `node` takes, `None` for what is no name of something to call."""
    match node:
        case Constructor(field_types=fields):
            return len(fields) or None
        case GlobalVar(name=name):
            function = module[name]
            return len(function.params)
        case Function(params=params) if is_closed(node):
            return len(params)
        case Op(name=name) if name in RELAY_OPS:
            spec = RELAY_OPS[name]
            return len(spec.params) - spec.optional_count
        case _:
            return None


def monomorphized(module: IRModule, entry: str, ctx: PassContext) -> IRModule:
    """Return what `entry` leads to, without type variables: a function for each combination of types.

    Raises:
        CompileError: PS014 for a program that needs more than `MAX_COPIES`, or a local function with type variables.
    """
    names = Names((entry,))
    copies = _FunctionCopies(module, infer(module), names, ctx)
    copies.var_of[entry] = [((), GlobalVar(entry))]
    copies.queue.append((entry, ()))
    for name, types in copies.queue:
        copies.make(name, types)
    return ctx.derive(replace(module, definitions=tuple(copies.made)), module)


@dataclass(slots=True)
class _FunctionCopies:
    module: IRModule
    facts: Inference
    names: Names
    ctx: PassContext
    var_of: dict[str, list[tuple[tuple[Type, ...], GlobalVar]]] = field(
        default_factory=dict[str, "list[tuple[tuple[Type, ...], GlobalVar]]"]
    )
    queue: list[tuple[str, tuple[Type, ...]]] = field(default_factory=list[tuple[str, "tuple[Type, ...]"]])
    made: list[Definition] = field(default_factory=list[Definition])
    at: str = ""
    """The name of the copy that is being made."""
    caller_of: dict[str, str] = field(default_factory=dict[str, str])
    words_of: dict[str, str] = field(default_factory=dict[str, str])
    """Copies by name: which one calls it first, and how it is shown."""

    def make(self, name: str, types: tuple[Type, ...]) -> None:
        """Add the copy of a function at some types."""
        var = next(var for known, var in self.var_of[name] if same_types(known, types))
        self.at = var.name
        function = self.module[name]
        assert isinstance(function, Function), "Relay has functions only"
        types_of = dict(zip(function.type_params, types, strict=True))

        def change(old: Node, rebuilt: Node) -> Node:
            match old, rebuilt:
                case Function(type_params=(_, *_)), _ if old is not function:
                    hint = "make it a function of the module, which takes what it captures"
                    self.ctx.fail(CODE, "a local function has type variables of its own, and captures", old, hint)
                case _, Call(op=GlobalVar() as var):
                    given = tuple(self.closed(item, types_of) for item in self.facts.type_args.get(old, ()))
                    made = replace(rebuilt, op=self.copy(var, given, old), type_args=())
                    self.ctx.log.rebuilt(rebuilt, made)
                    return made
                case _:
                    return rebuilt

        called = function if is_closed(function) else rebuild(function, change, self.ctx)
        copy = replace(copied(called, {}, self.ctx, types_of), type_params=())
        self.ctx.log.rebuilt(function, copy)
        self.made.append(self.ctx.derive(Definition(var, copy), function))

    def closed(self, type_: Type, types_of: Mapping[TypeVar, Type]) -> Type:
        """Return a type argument inside of a copy; a type that nothing decides may be any."""
        made = at_types(type_, types_of)
        return VOID if isinstance(made, ObjectType) or is_open(made) else made

    def copy(self, var: GlobalVar, types: tuple[Type, ...], call: Node) -> GlobalVar:
        """Return the name of the copy of a function at some types."""
        known = self.var_of.setdefault(var.name, [])
        for given, name in known:
            if same_types(given, types):
                return name
        if len(self.queue) >= MAX_COPIES or any(map(is_large, types)):
            hint = "a function that calls itself at ever larger types has no end"
            limit = f"the program needs more than {MAX_COPIES} copies of its functions, or copies at large types"
            self.ctx.fail(CODE, f"{limit}: {self.chain()}", call, hint)
        made = GlobalVar(self.names.fresh(var.name))
        known.append((types, made))
        self.caller_of[made.name] = self.at
        self.words_of[made.name] = f"@{var.name}" + (f"[{', '.join(map(show_type, types))}]" if types else "")
        self.queue.append((var.name, types))
        return made

    def chain(self) -> str:
        """Say how calls lead from the entry to what is being copied, the first of them at their types."""
        names = [self.at]
        while names[-1] in self.caller_of:
            names.append(self.caller_of[names[-1]])
        words = [self.words_of.get(name, f"@{name}") for name in reversed(names)]
        count = len(words) - _SHOWN_CALLS
        more = f", and so on, {plural(count, 'function')} more" if count > 0 else ""
        return ", which calls ".join(words[:_SHOWN_CALLS]).replace(", which", "", 1) + more


def same_types(a: tuple[Type, ...], b: tuple[Type, ...]) -> bool:
    """Tell whether two combinations of types are the same."""
    return len(a) == len(b) and all(map(same_type, a, b))


def is_large(type_: Type) -> bool:
    """Tell whether a type has more than `MAX_PARTS` parts, or parts more than `MAX_NESTING` deep in each other."""
    stack, count = [(type_, 0)], 0
    while stack:
        item, depth = stack.pop()
        count += 1
        if count > MAX_PARTS or depth > MAX_NESTING:
            return True
        stack += [(part, depth + 1) for part in _parts(item)]
    return False


def _parts(type_: Type) -> list[Type]:
    found: list[Type] = []

    def push(item: Type) -> Type:
        found.append(item)
        return item

    with_parts(type_, push)
    return found
