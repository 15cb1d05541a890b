"""Copies of data types of Relay that hold functions, one for each combination of types that a program uses them at."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relax_core.check.infer import infer
from relax_core.check.relay.solver import rebuilt as with_parts
from relax_core.ir.expr import VOID, AdtType, Call, Function, FuncType, TupleType, Type
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import Constructor, Match, Pattern, PatternConstructor, PatternTuple, TypeData
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.substitute import with_types
from relax_core.ops.relay.show import show_type
from relax_core.passes.core import PassContext
from relax_core.passes.relay.closures.monomorphize import MAX_COPIES, is_large, same_types
from relax_core.passes.relay.copying import at_types
from relax_core.passes.relay.infer_type import is_open
from relax_core.passes.relay.rebuild import change_functions, rebuild


def with_monomorphic_data(module: IRModule, ctx: PassContext, code: str) -> IRModule:
    """Return `module`, which has no type variables, with a copy of each such data type for each combination of types.

    The first copy of a type and its constructors keep the names.

    Raises:
        CompileError: `code` for a type that needs more than `MAX_COPIES`, or copies at large types.
    """
    generic = _generic(module)
    if not generic:
        return module
    names = Names(item.name for data in module.type_data for item in (data, *data.constructors))
    copies = _DataCopies(module, generic, infer(module).types, names, ctx, code)
    changed = change_functions(module, copies.function, ctx)
    kept = tuple(copies.kept(data) for data in module.type_data if data.name not in generic)
    made = tuple(copies.made)
    return ctx.derive(replace(changed, type_data=(*kept, *made)), module)


def _generic(module: IRModule) -> Mapping[str, TypeData]:
    """Return the types with parameters of which a field holds a function, or such a type."""
    found: dict[str, TypeData] = {}
    while True:
        more = {
            data.name: data
            for data in module.type_data
            if data.type_params and data.name not in found and any(_holds(type_, found) for type_ in _fields(data))
        }
        if not more:
            return found
        found.update(more)


def _fields(data: TypeData) -> list[Type]:
    return [type_ for item in data.constructors for type_ in item.field_types]


def _holds(type_: Type, generic: Mapping[str, TypeData]) -> bool:
    """Tell whether a part of a type is a function, or one of the types."""
    found = False

    def visit(item: Type) -> Type:
        nonlocal found
        found = found or isinstance(item, FuncType) or (isinstance(item, AdtType) and item.name in generic)
        return item if found else with_parts(item, visit)

    visit(type_)
    return found


@dataclass(slots=True)
class _DataCopies:
    module: IRModule
    generic: Mapping[str, TypeData]
    types: Mapping[Node, Type]
    names: Names
    ctx: PassContext
    code: str
    made: list[TypeData] = field(default_factory=list[TypeData])
    of: dict[str, list[tuple[tuple[Type, ...], int]]] = field(
        default_factory=dict[str, "list[tuple[tuple[Type, ...], int]]"]
    )
    """For each type, where its copies stand in `made`."""
    changed: dict[Node, Constructor] = field(default_factory=dict[Node, Constructor])
    """The constructors of other types whose fields mention a copy."""
    at: Node | None = None

    def function(self, function: Function) -> Function:
        """Return a function in which constructors and types are those of the copies."""
        type_of_pattern = self.pattern_types(function)

        def change(old: Node, rebuilt: Node) -> Node:
            self.at = old
            match old, rebuilt:
                case Call(op=Constructor() as constructor), Call():
                    made: Node = replace(rebuilt, op=self.constructor(constructor, self.types[old]))
                case PatternConstructor(constructor=constructor), PatternConstructor():
                    made = replace(rebuilt, constructor=self.constructor(constructor, type_of_pattern[old]))
                case _:
                    made = rebuilt
            made = with_types(made, self.mapped)
            self.ctx.log.rebuilt(rebuilt, made)
            return made

        return rebuild(function, change, self.ctx)

    def pattern_types(self, function: Function) -> Mapping[Node, Type]:
        """Return the types of the values that patterns with constructors take."""
        found: dict[Node, Type] = {}
        stack: list[tuple[Pattern, Type]] = [
            (clause.pattern, self.types[node.value])
            for node in postorder(function)
            if isinstance(node, Match)
            for clause in node.clauses
        ]
        while stack:
            pattern, type_ = stack.pop()
            match pattern, type_:
                case PatternConstructor(constructor=constructor, patterns=parts), AdtType(args=args):
                    found[pattern] = type_
                    stack += zip(parts, self.fields(constructor, args), strict=True)
                case PatternTuple(patterns=parts), TupleType(fields=fields):
                    stack += zip(parts, fields, strict=True)
                case _:
                    pass
        return found

    def fields(self, constructor: Constructor, args: tuple[Type, ...]) -> tuple[Type, ...]:
        """Return the types of a constructor's fields at type arguments."""
        data = next(item for item in self.module.type_data if item.name == constructor.type_name)
        types = dict(zip(data.type_params, args, strict=True))
        return tuple(at_types(type_, types) for type_ in constructor.field_types)

    def constructor(self, constructor: Constructor, type_: Type) -> Constructor:
        """Return what stands for a constructor of a value of a type."""
        assert isinstance(type_, AdtType), "a constructor makes a value of a data type"
        if type_.name not in self.generic:
            return self.changed_constructor(constructor)
        place = self.generic[type_.name].constructors.index(constructor)
        return self.made[self.copy(type_)].constructors[place]

    def changed_constructor(self, constructor: Constructor) -> Constructor:
        if constructor not in self.changed:
            fields = tuple(map(self.mapped, constructor.field_types))
            is_same = all(new is old for new, old in zip(fields, constructor.field_types, strict=True))
            made = constructor if is_same else self.ctx.derive(replace(constructor, field_types=fields), constructor)
            self.changed[constructor] = made
        return self.changed[constructor]

    def kept(self, data: TypeData) -> TypeData:
        """Return a type that is not copied."""
        made = tuple(map(self.changed_constructor, data.constructors))
        is_same = all(new is old for new, old in zip(made, data.constructors, strict=True))
        return data if is_same else self.ctx.derive(replace(data, constructors=made), data)

    def mapped(self, type_: Type) -> Type:
        """Return a type that names the copies."""
        if isinstance(type_, AdtType) and type_.name in self.generic:
            return AdtType(self.made[self.copy(type_)].name)
        return with_parts(type_, self.mapped)

    def copy(self, type_: AdtType) -> int:
        """Return the place of the copy of a data type at its arguments."""
        args = tuple(VOID if is_open(item) else item for item in type_.args)
        known = self.of.setdefault(type_.name, [])
        for given, place in known:
            if same_types(given, args):
                return place
        data = self.generic[type_.name]
        if len(self.made) >= MAX_COPIES or any(map(is_large, args)):
            message = f"the type {data.name} is used at ever larger types, so it has no end of copies"
            self.ctx.fail(self.code, message, self.at or data, "give its field a type that does not grow")
        place, is_first = len(self.made), not known
        name = data.name if is_first else self.names.fresh(data.name)
        # The copy is known by its name before its fields are, as it may be one of them.
        known.append((args, place))
        self.made.append(TypeData(name, span=data.span))
        constructors: list[Constructor] = []
        for item in data.constructors:
            fields = tuple(map(self.mapped, self.fields(item, args)))
            own = item.name if is_first else self.names.fresh(item.name)
            constructors.append(self.ctx.derive(Constructor(own, name, fields, span=item.span), item))
        self.made[place] = self.ctx.derive(TypeData(name, constructors=tuple(constructors), span=data.span), data)
        self.ctx.remark(data, "applied", f"the type {show_type(AdtType(data.name, args))} is {name}")
        return place
