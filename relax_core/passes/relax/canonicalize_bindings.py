"""Replace variables that only rename, and casts and projections that say nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Constant,
    DataflowVar,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    MatchCast,
    PrimValue,
    SeqExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, nodes_in
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.substitute import free_symbols, map_type, replace_symbols
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.blocks.branch_types import cast_branches
from relax_core.passes.relax.blocks.outputs import hide_outputs, join_dataflow, seen_outside
from relax_core.passes.relax.effects import killed_vars
from relax_core.passes.relax.functions import join_blocks
from relax_core.passes.relax.known_types import is_open, untyped, with_known_results


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Drop `y = x`, casts that add nothing, and `(a, b)[0]` of variables; use what a cast proves about dimensions.

    A constant stands where its variable was used, and an output of a dataflow block that nothing else uses is none;
    that of a constant stays one, as in TVM. A function returns what casts prove of its result, and the results of
    branches are cast to the type of the variable that they are bound to. Runs until nothing changes: what is known
    about a dimension makes casts trivial, and these become other names. TVM drops a cast that compares two dimensions,
    too.
    """
    kept: dict[Node, str] = {}
    result = canonicalized(module, ctx, kept)
    for binding, why in kept.items():
        ctx.remark(binding, "missed", why)
    return result


def canonicalized(module: IRModule, ctx: PassContext, kept: dict[Node, str] | None = None) -> IRModule:
    """Do the same for another pass; `kept` takes the bindings that stay in the end, and why."""
    first, shown = module, {item for _, function in module.relax_functions for item in seen_outside(function)}
    while (new := _once(module, ctx, {} if kept is None else kept, shown, is_first=module is first)) is not module:
        module = new
    hidden = change_functions(module, ctx, lambda _, function: hide_outputs(function, ctx, shown))
    cast = cast_branches(hidden, ctx)
    has_casts = any(isinstance(item, MatchCast) for _, function in first.relax_functions for item in nodes_in(function))
    return with_known_results(first, cast, ctx) if has_casts and cast is not first else cast


def _once(module: IRModule, ctx: PassContext, kept: dict[Node, str], literals: set[Var], *, is_first: bool) -> IRModule:
    """Do so once; `literals` takes the variables of constants. Only the first time constants take their place."""
    # Only casts ask for types.
    type_of = ctx.types_when_read(module)
    kept.clear()

    def change(_: GlobalVar, function: Function) -> Function:
        proven = proven_symbols(function, type_of, ctx)
        aliases = _Aliases(function, type_of, takes_constants=is_first)
        kept.update(aliases.kept)
        literals.update(aliases.unused.values())
        if not (aliases.var_of or proven):
            return function

        def fold(node: Node) -> Node | tuple[Node, ...] | None:
            """Rule: binding that only renames -> nothing."""
            match node:
                case VarBinding(var=var) | MatchCast(var=var) if var in aliases.dropped:
                    kept = aliases.dropped[var]
                    name = kept.name if isinstance(kept, Var) else show_prim(kept.value)
                    ctx.remark(node, "applied", f"{var.name} is another name of {name}", (kept,))
                    for gone in (node, var):
                        ctx.log.share((aliases.resolve(kept),), gone)
                    return ()
                case VarBinding(var=var) if var in aliases.unused:
                    ctx.remark(node, "applied", f"{var.name} is a constant, which stands where it was used")
                    return replace(node, var=ctx.derive(aliases.unused[var], var))
                case BindingBlock(bindings=()):
                    return ()
                case _:
                    return None

        def declare(node: Node) -> Node | None:
            """Rule: function -> function that returns what casts prove."""
            known = _proven_result(node, type_of, proven)
            return None if known is None else replace(node, ret_type=known)

        declared = ctx.rewrite(function, declare, kinds=(Function,)) if proven else function
        folded = ctx.rewrite(declared, fold, join_blocks, join_dataflow, kinds=(Binding, BindingBlock, SeqExpr))
        # One after the other: the type of a variable that takes the place of another may have a proven size, too.
        named = ctx.substitute(folded, dict(aliases.var_of))
        return ctx.substitute(named, _open_again(named, proven), proven)

    return change_functions(module, ctx, change)


@dataclass(slots=True)
class _Aliases:
    """Which variable stands for which (`var_of`), and whose bindings go (`dropped`).

    What is `killed` keeps its name: another name of it may live longer. The binding of a constant stays, with another
    variable, which nothing uses (`unused`). `wholes` has the tuples of which a variable holds all fields. `kept` says
    why a binding that could only rename does more.
    """

    function: Function
    type_of: Mapping[Node, Type]
    takes_constants: bool
    var_of: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    dropped: dict[Var, Var | PrimValue] = field(default_factory=dict[Var, Var | PrimValue])
    tuples: dict[Var, Tuple] = field(default_factory=dict[Var, Tuple])
    taken: dict[Expr, TupleGetItem] = field(default_factory=dict[Expr, TupleGetItem])
    wholes: dict[Expr, Var] = field(default_factory=dict[Expr, Var])
    unused: dict[Var, Var] = field(default_factory=dict[Var, Var])
    kept: dict[Node, str] = field(default_factory=dict[Node, str])
    used: frozenset[Node] = frozenset()
    killed: frozenset[Var] = frozenset()

    def __post_init__(self) -> None:
        self.killed = killed_vars(self.function)
        self.used = frozenset(part for item in nodes_in(self.function) for part in _used_in(item))
        for binding in _bindings(self.function):
            self.visit(binding)
        for var in self.var_of:
            self.var_of[var] = self.resolve(var)

    def resolve(self, expr: Expr) -> Expr:
        """Follow the chain of names to its end."""
        while isinstance(expr, Var) and expr in self.var_of:
            expr = self.var_of[expr]
        return expr

    def named(self, expr: Expr) -> Expr:
        """Follow the chain of names to its end, or to the variable of a constant."""
        while isinstance(expr, Var) and expr in self.var_of and expr not in self.unused:
            expr = self.var_of[expr]
        return expr

    def visit(self, binding: Binding) -> None:
        match binding:
            case VarBinding(var=var, value=Var() as value):
                if not self.alias(var, value):
                    self.kept[binding] = f"{var.name} stays another name of {value.name}: a call ends one of the two"
            case VarBinding(var=var, value=Constant() | DataTypeImm() | PrimValue() as value):
                self.literal(var, value)
            case VarBinding(var=var, value=Tuple() as value):
                whole = self.whole(value)
                if whole is None:
                    self.tuples[var] = value
                elif whole in self.function.params:
                    self.alias(var, whole)
                else:
                    self.wholes[var] = whole
            case VarBinding(var=var, value=TupleGetItem(tuple_value=source, index=index) as taken):
                self.taken[var] = taken
                known = self.resolve(source)
                value = (
                    known if isinstance(known, Tuple) else self.tuples.get(known) if isinstance(known, Var) else None
                )
                if value is not None and index < len(value.fields):
                    item = self.named(value.fields[index])
                    if item not in self.killed:
                        self.field(var, item)
            case MatchCast(var=var, value=Var() as value, type=type_):
                actual = self.type_of.get(value)
                if actual is not None and same_type(actual, type_):
                    self.alias(var, value)
                else:
                    self.kept[binding] = f"{var.name} stays: nothing proves what the cast asks of {value.name}"
            case _:
                pass

    def field(self, var: Var, item: Expr) -> None:
        """Let `var` stand for what is known of a field of a tuple."""
        match item:
            case Var():
                self.alias(var, item)
            case Tuple():
                self.tuples[var] = item
            case Constant() | DataTypeImm() | PrimValue():
                self.literal(var, item)
            case _:
                pass

    def literal(self, var: Var, value: Constant | DataTypeImm | PrimValue) -> None:
        """Let a constant or a dimension stand for a variable."""
        if isinstance(value, PrimValue) and isinstance(value.value, PrimVar):
            self.var_of[var] = self.dropped[var] = value
        elif self.takes_constants and var in self.used and var not in self.killed and not isinstance(value, PrimValue):
            self.var_of[var] = value
            self.unused[var] = replace(var)

    def whole(self, made: Tuple) -> Var | None:
        """Return the variable of which `made` has all fields in order.

        A parameter takes its place; another tuple stays, and so does what is taken from it: as in TVM.
        """
        names = map(self.resolve, made.fields)
        fields = tuple(self.taken.get(self.wholes.get(item, item)) for item in names)
        source = fields[0].tuple_value if fields and fields[0] is not None else None
        type_ = None if source is None else self.type_of.get(source)
        is_whole = isinstance(type_, TupleType) and len(type_.fields) == len(fields)
        in_order = all(
            item is not None and item.tuple_value is source and item.index == at for at, item in enumerate(fields)
        )
        return source if is_whole and in_order and isinstance(source, Var) else None

    def alias(self, var: Var, value: Var) -> bool:
        """Let one of two names go, if it may; an output of a dataflow block stays visible outside it."""
        kept = self.named(value)
        if isinstance(kept, Var) and kept in self.unused and var not in self.killed:
            if not isinstance(kept, DataflowVar) or isinstance(var, DataflowVar):
                self.var_of[var], self.dropped[var] = kept, kept
                return True
            del self.unused[kept]  # The output names the constant, and stands for it from here on.
        if not isinstance(kept, Var) or kept is var or kept in self.killed or var in self.killed:
            return False
        if isinstance(kept, DataflowVar) and not isinstance(var, DataflowVar):
            self.var_of[kept], self.dropped[var] = var, kept
        else:
            self.var_of[var], self.dropped[var] = kept, kept
        return True


def _proven_result(node: Node, type_of: Mapping[Node, Type], proven: Mapping[PrimVar, PrimExpr]) -> Type | None:
    """Return the type of what a function returns if proven sizes tell more of it, and its parameters bind them."""
    if not isinstance(node, Function) or not isinstance(node.body, SeqExpr):
        return None
    found = type_of.get(node.body.body)
    if found is None or not {*free_symbols(found)} & proven.keys():
        return None
    known = map_type(found, lambda item: replace_symbols(item, proven))
    bound = {symbol for param in node.params for symbol in free_symbols(param.annotation)}
    return known if bound.issuperset(free_symbols(known)) else None


def _open_again(function: Function, proven: Mapping[PrimVar, PrimExpr]) -> dict[Var, Expr]:
    """Return the variables of which proven sizes tell more than their types do, without these types."""
    if not proven:
        return {}
    known = {item.var for item in _bindings(function) if proven.keys() & {*free_symbols(item.var.annotation)}}
    more = untyped(function, known) if known else {}
    return {var: bare for var, bare in more.items() if is_open(var.annotation)}


def _used_in(node: Node) -> tuple[Node, ...]:
    """Return what a node uses: all that it consists of, but the variable that it binds."""
    return (node.value,) if isinstance(node, Binding) else children(node)


def _bindings(function: Function) -> Iterator[Binding]:
    return (binding for item in nodes_in(function) if isinstance(item, BindingBlock) for binding in item.bindings)


def proven_symbols(function: Function, type_of: Mapping[Node, Type], ctx: PassContext) -> dict[PrimVar, PrimExpr]:
    """Return what casts prove of the symbolic dimensions that they bind, in symbols of which they prove nothing."""
    proven: dict[PrimVar, PrimExpr] = {}
    for symbol, value in _proven_symbols(function, type_of):
        # The value may be of symbols that an earlier cast has proven, whose casts go as well.
        proven[symbol] = replace_symbols(value, proven)
    for symbol, value in proven.items():
        ctx.remark(function, "applied", f"{symbol.name} is {show_prim(value)}: a match_cast proves it", (value,))
    return proven


def _proven_symbols(function: Function, type_of: Mapping[Node, Type]) -> Iterator[tuple[PrimVar, PrimExpr]]:
    """Yield the symbolic dimensions whose value a match_cast proves, if that is where they are bound."""
    bound: set[PrimVar] = set()
    blocks = function.body.blocks if isinstance(function.body, SeqExpr) else ()
    always = {item for block in blocks for item in block.bindings}
    casts = [(item, set(free_symbols(item.type))) for item in nodes_in(function) if isinstance(item, MatchCast)]
    if not casts:
        return
    for at, (cast, symbols) in enumerate(casts):
        # What only one branch binds, another one binds by itself.
        bound.update(() if cast in always else (item for _, rest in casts[at + 1 :] for item in symbols & rest))
    for item in nodes_in(function):
        match item:
            case Function(params=params):
                for param in params:
                    bound.update(free_symbols(param.annotation))
            case MatchCast(value=value, type=type_):
                for dim, actual in _paired_dims(type_, type_of.get(value)):
                    if isinstance(dim, PrimVar) and dim not in bound and dim not in free_symbols(actual):
                        yield dim, actual
                bound.update(free_symbols(type_))
            case _:
                pass


def _paired_dims(wanted: Type, actual: Type | None) -> Iterator[tuple[PrimExpr, PrimExpr]]:
    match wanted, actual:
        case (TensorType(shape=tuple() as a), TensorType(shape=tuple() as b)) if len(a) == len(b):
            yield from zip(a, b, strict=True)
        case (ShapeType(values=tuple() as a), ShapeType(values=tuple() as b)) if len(a) == len(b):
            yield from zip(a, b, strict=True)
        case TupleType(fields=left), TupleType(fields=right) if len(left) == len(right):
            for a, b in zip(left, right, strict=True):
                yield from _paired_dims(a, b)
        case _:
            return


PASS = Pass(
    "CanonicalizeBindings",
    "Drops bindings that only give a value another name, casts that add nothing, and projections of known tuples.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/canonicalize_bindings.cc",
)
