"""Defunctionalization: functions as values become data, and their calls a match of it.

Reynolds, Definitional interpreters for higher-order programming languages, 1972.
See: tvm/src/relay/transforms/defunctionalization.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, cast

from relax_core.analysis.regions import is_closed
from relax_core.check.infer import infer
from relax_core.check.relay.solver import rebuilt as with_parts
from relax_core.diagnostics import has_errors
from relax_core.ir.attrs import attr
from relax_core.ir.equality import same_type
from relax_core.ir.expr import AdtType, Call, Expr, Function, FuncType, GlobalVar, Op, Type, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, map_children, postorder
from relax_core.ir.relay import (
    Clause,
    Constructor,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    TypeData,
)
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.substitute import with_types
from relax_core.ops.relay.show import show_type
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.closures.lambda_lift import CLOSURE, with_polymorphic_functions
from relax_core.passes.relay.closures.lambda_lift import run as lambda_lift
from relax_core.passes.relay.closures.monomorphic_data import with_monomorphic_data
from relax_core.passes.relay.closures.monomorphic_lets import with_monomorphic_lets
from relax_core.passes.relay.closures.monomorphize import CODE, monomorphized, with_called_values
from relax_core.passes.relay.infer_type import run as infer_type
from relax_core.passes.relay.rebuild import change_functions, rebuild

Boundary = tuple[dict[int, Constructor], GlobalVar | None]
"""The constructors that hold given functions, by parameter, and the function that calls what is given back."""


N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class DefunctionalizationOptions:
    """`entry` is the function that the program starts at.

    In a `closed` world it may neither take nor give functions. In an `open` one it may: those of the host stay
    functions, which data hold.
    """

    entry: str = "main"
    world: Literal["open", "closed"] = "open"


def run(module: IRModule, options: DefunctionalizationOptions, ctx: PassContext) -> IRModule:
    """Return what the entry leads to, first-order: no variable, field or result is a function.

    Functions are copied for the types that they are called at, literals are lifted; then each type of functions
    becomes a data type with a constructor for each function of that type, which holds what the function captures.

    Raises:
        CompileError: PS014 for a program that is not whole, or whose types cannot be told apart.
    """
    entry = options.entry
    main = module.find(entry)
    if main is None:
        hint = f"say which function is called first: Defunctionalization(entry={next(iter(module.names), 'f')!r})"
        ctx.fail(CODE, f"there is no @{entry} to start from", module, hint)
    types = ctx.types(module)
    if not is_higher_order(module, types):
        ctx.remark(main.function, "missed", f"@{entry} stays: nothing that it leads to takes or gives functions")
        return module
    function, signature = main.function, types[main.function]
    assert isinstance(function, Function), "Relay has functions only"
    assert isinstance(signature, FuncType), "a function has the type of one"
    _require_whole(function, signature, options, ctx)
    local = with_monomorphic_lets(with_polymorphic_functions(module, ctx), ctx, CODE)
    named = with_called_values(local, ctx)
    whole = infer_type(monomorphized(named, entry, ctx), NoOptions(), ctx)
    lifted = lambda_lift(with_monomorphic_data(whole, ctx, CODE), NoOptions(), ctx)
    work = _FirstOrder(lifted, ctx.types(lifted), ctx)
    is_open = any(isinstance(item, FuncType) for item in (*(signature.params or ()), signature.ret))
    result = work.module_(signature if is_open else None)
    if is_open:
        result = with_open_entry(result, entry, (function, signature), work.boundary, ctx)
    if has_errors(infer(result).diagnostics):
        words = infer(result).diagnostics[0].message
        hint = "declare the functions that meet with the same types, sizes included"
        ctx.fail(CODE, f"functions of different types meet in one place: {words}", main.function, hint)
    return result


def _require_whole(main: Node, signature: FuncType, options: DefunctionalizationOptions, ctx: PassContext) -> None:
    """Stop at an entry through which functions go that the pass cannot make data of."""
    entry = options.entry
    types = (*(signature.params or ()), signature.ret)
    hint = f"let @{entry} take and give data, and choose the function inside"
    if options.world == "closed" and any(map(_holds_function, types)):
        ctx.fail(CODE, f"@{entry} takes or gives a function, so the program is not whole", main, hint)
    for type_ in types:
        parts = (*(type_.params or ()), type_.ret) if isinstance(type_, FuncType) else (type_,)
        if any(map(_holds_function, parts)):
            message = f"@{entry} takes or gives {show_type(type_)}, a function inside of another type"
            ctx.fail(CODE, message, main, hint)


def is_higher_order(module: IRModule, types: Mapping[Node, Type]) -> bool:
    """Tell whether a variable or a value of the program is a function, or holds one."""
    for item in module:
        for user in postorder(item.function):
            for node in _values(user):
                type_ = types.get(node)
                if type_ is not None and _holds_function(type_):
                    return True
    return False


def _values(user: Node) -> tuple[Node, ...]:
    """Return the parts of a node that are values: not the names of what it calls, nor those of patterns."""
    match user:
        case PatternConstructor(patterns=patterns):
            return patterns
        case Call(op=Op() | GlobalVar() | Constructor(), args=args):
            return args
        case Call(op=Function() as function, args=args) if is_closed(function):
            return (function.body, *args)
        case _:
            return children(user)


def _holds_function(type_: Type) -> bool:
    """Tell whether a part of a type is a function."""
    found = isinstance(type_, FuncType)

    def visit(item: Type) -> Type:
        nonlocal found
        found = found or isinstance(item, FuncType)
        return item if found else with_parts(item, visit)

    with_parts(type_, visit)
    return found


@dataclass(slots=True)
class _Data:
    """The data type that stands for a type of functions, and the function that calls its values."""

    signature: FuncType
    name: str
    apply: GlobalVar
    constructors: list[Constructor] = field(default_factory=list[Constructor])
    clauses: list[Clause] = field(default_factory=list[Clause])
    params: tuple[Var, ...] = ()


@dataclass(slots=True)
class _FirstOrder:
    """Makes a first-order program of one whose function values are globals, or what globals marked Closure give."""

    module: IRModule
    types: Mapping[Node, Type]
    ctx: PassContext
    data: list[_Data] = field(default_factory=list[_Data])
    constructor_of: dict[str, Constructor] = field(default_factory=dict[str, Constructor])
    """The constructors that stand for global functions, by name."""
    declared: dict[Node, Constructor] = field(default_factory=dict[Node, Constructor])
    """The constructors of the program whose fields are functions, with data in their place."""

    boundary: Boundary = field(default_factory=lambda: ({}, None))

    def module_(self, signature: FuncType | None) -> IRModule:
        """Return the module; functions go through its entry of type `signature`, `None` if none does."""
        names = Names((*self.module.names, *(item.name for item in self.module.type_data)))
        definitions: list[Definition] = []
        types = tuple(self.type_data(item, names) for item in self.module.type_data)
        for item in self.module.definitions:
            assert isinstance(item.function, Function), "Relay has functions only"
            made = self.function(item.var, item.function, names)
            definitions.append(self.ctx.derive(replace(item, function=made), item))
        if signature is not None:
            self.open(signature, names)
        applies: list[Definition] = []
        for entry in self.data:
            # The result of a function may be another type of functions, which is then added behind.
            applies.append(self.ctx.derive(self.apply(entry, names), self.module))
        added = tuple(TypeData(entry.name, constructors=tuple(entry.constructors)) for entry in self.data)
        result = replace(self.module, definitions=(*definitions, *applies), type_data=(*types, *added))
        return self.ctx.derive(result, self.module)

    def open(self, signature: FuncType, names: Names) -> None:
        """Add the constructors that hold functions of the host."""
        held: dict[int, Constructor] = {}
        for at, type_ in enumerate(signature.params or ()):
            if isinstance(type_, FuncType):
                entry = self.data_of(type_, names)
                name = f"{entry.name}_given"
                known = next((item for item in entry.constructors if item.name == name), None)
                held[at] = known or self.holding(entry, name)
        result = signature.ret
        self.boundary = (held, self.data_of(result, names).apply if isinstance(result, FuncType) else None)

    def holding(self, entry: _Data, name: str) -> Constructor:
        """Add the constructor that holds a function, with the clause that calls it."""
        made = Constructor(name, entry.name, (entry.signature,))
        given = Var("g", entry.signature)
        entry.constructors.append(made)
        clause = Clause(PatternConstructor(made, (PatternVar(given),)), Call(given, entry.params))
        entry.clauses.append(self.ctx.derive(clause, self.module))
        return made

    def type_data(self, data: TypeData, names: Names) -> TypeData:
        """Return a data type of the program whose fields are first-order."""
        for item in data.constructors:
            if any(map(_holds_function, item.field_types)):
                fields = tuple(self.first_order(type_, names) for type_ in item.field_types)
                self.declared[item] = self.ctx.derive(replace(item, field_types=fields), item)
        made = tuple(self.declared.get(item, item) for item in data.constructors)
        is_same = all(new is old for new, old in zip(made, data.constructors, strict=True))
        return data if is_same else self.ctx.derive(replace(data, constructors=made), data)

    def data_of(self, signature: FuncType, names: Names) -> _Data:
        """Return the data type of a type of functions."""
        for entry in self.data:
            if same_type(entry.signature, signature):
                return entry
        name = names.fresh("Function")
        entry = _Data(signature, name, GlobalVar(names.fresh(f"apply_{name}")))
        self.data.append(entry)
        entry.params = tuple(
            Var(f"a{k}", self.first_order(type_, names)) for k, type_ in enumerate(signature.params or ())
        )
        return entry

    def first_order(self, type_: Type, names: Names) -> Type:
        """Return a type with data in the place of functions."""
        if isinstance(type_, FuncType):
            return AdtType(self.data_of(type_, names).name)
        return with_parts(type_, lambda item: self.first_order(item, names))

    def function(self, var: GlobalVar, function: Function, names: Names) -> Function:
        """Return a global function whose values are first-order; one that makes a closure gives its constructor."""
        if not attr(function.attrs, CLOSURE):
            return self.changed(function, names, {})
        code = function.body
        assert isinstance(code, Function), "what is marked Closure gives a function"
        constructor = self.closure(var, function, code, names)
        params = tuple(self.changed(param, names, {}) for param in function.params)
        signature = self.types[code]
        attrs = tuple(pair for pair in function.attrs if pair[0] != CLOSURE)
        made = Function(
            params, Call(constructor, params), self.first_order(signature, names), attrs, span=function.span
        )
        return self.ctx.derive(made, function)

    def closure(self, var: GlobalVar, function: Function, code: Function, names: Names) -> Constructor:
        """Add the constructor of a function that captures, with the clause that calls it."""
        signature = self.types[code]
        assert isinstance(signature, FuncType), "a function has the type of one"
        entry = self.data_of(signature, names)
        fields = tuple(self.first_order(self.types[param], names) for param in function.params)
        constructor = Constructor(f"{entry.name}_{var.name}", entry.name, fields)
        entry.constructors.append(constructor)
        taken = tuple(Var(param.name, type_) for param, type_ in zip(function.params, fields, strict=True))
        inner = dict(zip((*function.params, *code.params), (*taken, *entry.params), strict=True))
        body = self.changed(code.body, names, inner)
        pattern = PatternConstructor(constructor, tuple(PatternVar(item) for item in taken))
        entry.clauses.append(self.ctx.derive(Clause(pattern, body), code))
        self.ctx.remark(code, "applied", f"the function is {constructor.name} of the type {entry.name}")
        return constructor

    def named(self, var: GlobalVar, names: Names) -> Expr:
        """Return the value that stands for a global function, with the clause that calls it."""
        if var.name not in self.constructor_of:
            signature = self.types[self.module[var.name]]
            assert isinstance(signature, FuncType), "a function has the type of one"
            entry = self.data_of(signature, names)
            made = self.constructor_of[var.name] = Constructor(f"{entry.name}_{var.name}", entry.name)
            entry.constructors.append(made)
            clause = Clause(PatternConstructor(made), Call(var, entry.params))
            entry.clauses.append(self.ctx.derive(clause, self.module[var.name]))
            self.ctx.remark(self.module[var.name], "applied", f"@{var.name} as a value is {made.name}")
        return Call(self.constructor_of[var.name])

    def changed(self, root: N, names: Names, vars: Mapping[Var, Var]) -> N:
        """Return `root` with first-order types, data for functions as values, and `vars` replaced."""
        new_of: dict[Node, Node] = {}

        def value(child: Node) -> Node:
            return self.named(child, names) if isinstance(child, GlobalVar) else new_of[child]

        for node in postorder(root):
            match node:
                case Var() if node in vars:
                    new_of[node] = vars[node]
                    continue
                case Constructor():
                    new_of[node] = self.declared.get(node, node)
                    continue
                case Call(op=Op() | Constructor() | GlobalVar() as op):
                    made: Node = map_children(node, lambda child, op=op: new_of[op] if child is op else value(child))
                case Call(op=op, args=args) if not isinstance(op, Function):
                    signature = self.types[op]
                    assert isinstance(signature, FuncType), "what is called is a function"
                    given = (_expr(value(op)), *(_expr(value(arg)) for arg in args))
                    made = Call(self.data_of(signature, names).apply, given, span=node.span)
                    self.ctx.remark(node, "applied", f"the call matches what the function may be: @{_name(made)}")
                case _:
                    made = map_children(node, value)
            made = with_types(made, lambda type_: self.first_order(type_, names))
            self.ctx.log.rebuilt(node, made)
            new_of[node] = made
        return cast("N", new_of[root])

    def apply(self, entry: _Data, names: Names) -> Definition:
        """Return the function that calls a value of a data type."""
        param = Var("f", AdtType(entry.name))
        clauses = tuple(entry.clauses)
        if not clauses:
            # No function has this type: there is no value to call, but the type needs one to be written.
            entry.constructors.append(Constructor(f"{entry.name}_none", entry.name))
            clauses = (Clause(PatternWildcard(), Call(entry.apply, (param, *entry.params))),)
        ret = self.first_order(entry.signature.ret, names)
        return Definition(entry.apply, Function((param, *entry.params), Match(param, clauses), ret))


def _expr(node: Node) -> Expr:
    assert isinstance(node, Expr), "an expression stays one"
    return node


def _name(call: Node) -> str:
    assert isinstance(call, Call), "a call was made"
    return call.op.name if isinstance(call.op, GlobalVar) else ""


PASS = Pass(
    "Defunctionalization",
    "Makes a first-order program: functions as values become data, and their calls a match of it.",
    run,
    DefunctionalizationOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/defunctionalization.cc",
)


def with_open_entry(
    module: IRModule, entry: str, before: tuple[Function, FuncType], data: "Boundary", ctx: PassContext
) -> IRModule:
    """Return `module` with an entry that takes and gives functions, as the function `before` of that type did.

    The entry that takes data gets another name; the new one makes data of each function that it is given, and a
    function of the data that the other gives.
    """
    inner = GlobalVar(Names(module.names).fresh(f"{entry}_first_order"))

    def change(old: Node, rebuilt: Node) -> Node:
        return inner if isinstance(old, GlobalVar) and old.name == entry else rebuilt

    renamed = change_functions(module, lambda function: rebuild(function, change, ctx), ctx)
    definitions: list[Definition] = []
    for item in renamed.definitions:
        if item.var.name == entry:
            assert isinstance(item.function, Function), "Relay has functions only"
            hidden = ctx.derive(replace(item.function, attrs=()), item.function)
            made = ctx.derive(_entry(before, inner, data), item.function)
            definitions += (replace(item, function=made), Definition(inner, hidden))
        else:
            definitions.append(item)
    ctx.remark(before[0], "applied", f"@{entry} takes and gives functions of the host; @{inner.name} is first-order")
    return ctx.derive(replace(renamed, definitions=tuple(definitions)), module)


def _entry(before: tuple[Function, FuncType], inner: GlobalVar, data: Boundary) -> Function:
    function, signature = before
    constructors, apply = data
    params = tuple(
        Var(param.name, type_, span=param.span)
        for param, type_ in zip(function.params, signature.params or (), strict=True)
    )
    args: list[Expr] = [
        Call(constructors[at], (param,)) if at in constructors else param for at, param in enumerate(params)
    ]
    body: Expr = Call(inner, tuple(args))
    if apply is not None:
        assert isinstance(signature.ret, FuncType), "what is called is a function"
        taken = tuple(Var(f"a{k}", type_) for k, type_ in enumerate(signature.ret.params or ()))
        found = Var("f")
        body = Let(found, body, Function(taken, Call(apply, (found, *taken)), signature.ret.ret))
    return Function(params, body, signature.ret, function.attrs, span=function.span)
