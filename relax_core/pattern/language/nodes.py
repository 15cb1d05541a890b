"""The dataflow pattern language: what an expression must look like.

    conv = is_op("nn.conv2d")(wildcard(), is_constant())
    (conv | is_op("nn.relu")(conv)).has_attr({"match_key": "my_library"})

A pattern is compared by identity: the same object, wherever it stands, must match the same expression.
See: tvm/python/tvm/relay/dataflow_pattern/__init__.py, v0.19
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast

from relax_core.frontend.parse import parse_text
from relax_core.ir.attrs import Attrs, AttrValue, attrs_of
from relax_core.ir.expr import Expr, Function, GlobalVar, Op, Type, Var, constant
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimExpr
from relax_core.pattern.language.edges import Linked


def read_relax_type(text: str) -> Type:
    """Read a type such as `R.Tensor((4, 4), "float32")`.

    Raises:
        ValueError: it is none.
    """
    head = "from tvm.script import relax as R, tir as T\n@R.function\n"
    parsed = parse_text(f"{head}def f(x: {text}):\n    return x\n", "type.py")
    match parsed.modules:
        case [IRModule(definitions=[Definition(function=Function(params=[Var(annotation=read)]))])] if (
            read is not None and not parsed.diagnostics
        ):
            return read
        case _:
            raise ValueError(f"{text} is no type of Relax")


def read_type(text: str) -> Type:
    """Read a type such as `Tensor[(4, 4), float32]` or `(int32, bool)`.

    Raises:
        ValueError: it is none.
    """
    parsed = parse_text(f'#[version = "0.0.5"]\ndef @f(%x: {text}) {{ %x }}\n', "type.relay")
    match parsed.modules:
        case [IRModule(definitions=[Definition(function=Function(params=[Var(annotation=read)]))])] if read is not None:
            return read
        case _:
            raise ValueError(f"{text} is no type of Relay")


Size: TypeAlias = int | PrimExpr | None
"""A size that a pattern asks for; `None` takes any."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern(Linked):
    """The base of all patterns. `PARTS` names the fields that hold patterns, in the order of matching."""

    PARTS: ClassVar[tuple[str, ...]] = ()

    def __call__(
        self, *args: "Pattern", varg_default_wildcard: bool = False, add_constraint: bool = True
    ) -> "CallPattern":
        """Match a call of what this matches with exactly these arguments; `any_args` takes any.

        With `varg_default_wildcard` the call may have further arguments. With `add_constraint` an open pattern context
        takes an edge from each argument to the call.
        """
        made = CallPattern(self, args, varg_default_wildcard)
        if add_constraint:
            for index, arg in enumerate(args):
                if isinstance(cast("object", arg), Pattern):
                    arg.used_by(made, index)
        return made

    def any_args(self) -> "CallPattern":
        """Match a call of what this matches, whatever its arguments are."""
        return CallPattern(self, None)

    def __or__(self, other: "Pattern") -> "AltPattern":
        return AltPattern((*_options(self), *_options(other)))

    def __and__(self, other: "Pattern") -> "AndPattern":
        return AndPattern((self, other))

    def __invert__(self) -> "NotPattern":
        return NotPattern(self)

    def __add__(self, other: "Pattern") -> "CallPattern":
        return is_op("add")(self, other)

    def __sub__(self, other: "Pattern") -> "CallPattern":
        return is_op("subtract")(self, other)

    def __mul__(self, other: "Pattern") -> "CallPattern":
        return is_op("multiply")(self, other)

    def __truediv__(self, other: "Pattern") -> "CallPattern":
        return is_op("divide")(self, other)

    def dup(self) -> Self:
        """Return another pattern for the same, all of whose parts are others, too; no edge leads from or to it."""
        return _duplicate(self)

    def optional(self, wrap: "Callable[[Pattern], Pattern]") -> "AltPattern":
        """Match this, or what `wrap` makes of it; the wrapped form is the first choice."""
        return wrap(self) | self

    def has_attr(self, attrs: "Mapping[str, AttrValue | list[Any]]") -> "AttrPattern":
        """Match this if the operator, call or function has these attributes; lists may be given by their beginning."""
        return AttrPattern(self, attrs_of({key: _frozen(value) for key, value in attrs.items()}))

    def has_type(self, type_: Type | str) -> "TypePattern":
        """Match this if its type is equal to `type_`, which may be given as Relay writes it.

        Raises:
            ValueError: the text is no type.
        """
        return TypePattern(self, read_type(type_) if isinstance(type_, str) else type_)

    def has_dtype(self, dtype: str) -> "DataTypePattern":
        """Match this if it is a tensor of `dtype`."""
        return DataTypePattern(self, dtype)

    def has_ty(self, type_: Type | str) -> "SubtypePattern":
        """Match this if each of its values is one of `type_`, which may be given as TVMScript writes it.

        Raises:
            ValueError: the text is no type.
        """
        return SubtypePattern(self, read_relax_type(type_) if isinstance(type_, str) else type_)

    def has_struct_info(self, type_: Type | str) -> "SubtypePattern":
        """Do what `has_ty` does, under the name that TVM had for it."""
        return self.has_ty(type_)

    def has_shape(self, shape: Sequence[Size]) -> "ShapePattern":
        """Match this if it is a tensor of `shape`; `None` takes any size."""
        return ShapePattern(self, tuple(shape))

    def dominates(self, parent: "Pattern", path: "Pattern | None" = None) -> "DominatorPattern":
        """Match this at the end of paths that all start at one match of `parent`; each node between matches `path`."""
        return DominatorPattern(parent, WildcardPattern() if path is None else path, self)


@dataclass(frozen=True, slots=True, eq=False)
class WildcardPattern(Pattern):
    """Anything, or what `redirect_to` says, which may hold this pattern itself: then it matches chains of any length.

    Each level of such a chain matches by itself, but for what has to be one expression at all levels: variables,
    literals, and wildcards that are not redirected.
    """

    targets: list[Pattern] = field(default_factory=list[Pattern], repr=False)

    def redirect_to(self, target: Pattern) -> "WildcardPattern":
        """Let this match what `target` matches, instead of anything; return this."""
        self.targets[:] = [target]
        return self


@dataclass(frozen=True, slots=True, eq=False)
class ExprPattern(Pattern):
    """An expression that is structurally equal to `expr`; an operator or a global by its name."""

    expr: Expr


@dataclass(frozen=True, slots=True, eq=False)
class VarPattern(Pattern):
    """A variable, called `name` if that is not empty."""

    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class DataflowVarPattern(Pattern):
    """A variable that only its dataflow block sees, called `name` if that is not empty."""

    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class GlobalVarPattern(Pattern):
    """A function of the module, called `name` if that is not empty."""

    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ExternFuncPattern(Pattern):
    """A packed function, called `name` if that is not empty."""

    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class PrimArrPattern(Pattern):
    """A shape as a value: `R.shape([...])` of these sizes."""

    values: tuple[Size, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ConstantPattern(Pattern):
    """A tensor literal; a group takes it in, rather than as a parameter."""


@dataclass(frozen=True, slots=True, eq=False)
class CallPattern(Pattern):
    """A call; `args` is `None` if any will do. With `takes_more` there may be arguments behind those."""

    PARTS: ClassVar[tuple[str, ...]] = ("op", "args")
    op: Pattern
    args: tuple[Pattern, ...] | None = None
    takes_more: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class OperatorPattern(Pattern):
    """A call of the operator `name` of Relax, its arguments by their places in the schema.

    `args` are matched with the arguments at `places`, `add` and `multiply` in either order. `attrs` are exactly the
    literals that stand at other places: place, name of the parameter and value. What neither mentions is not looked at.
    """

    PARTS: ClassVar[tuple[str, ...]] = ("args",)
    name: str
    args: tuple[Pattern, ...] = ()
    places: tuple[int, ...] = ()
    attrs: tuple[tuple[int, str, AttrValue], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ScalarPattern(Pattern):
    """A tensor literal of rank 0 with this value, whatever its dtype is."""

    value: bool | int | float


@dataclass(frozen=True, slots=True, eq=False)
class FunctionPattern(Pattern):
    """A function; `params` is `None` if any will do."""

    PARTS: ClassVar[tuple[str, ...]] = ("params", "body")
    params: tuple[Pattern, ...] | None
    body: Pattern


@dataclass(frozen=True, slots=True, eq=False)
class IfPattern(Pattern):
    """A conditional."""

    PARTS: ClassVar[tuple[str, ...]] = ("condition", "true_branch", "false_branch")
    condition: Pattern
    true_branch: Pattern
    false_branch: Pattern


@dataclass(frozen=True, slots=True, eq=False)
class LetPattern(Pattern):
    """`let var = value; body`."""

    PARTS: ClassVar[tuple[str, ...]] = ("var", "value", "body")
    var: Pattern
    value: Pattern
    body: Pattern


@dataclass(frozen=True, slots=True, eq=False)
class TuplePattern(Pattern):
    """A tuple; `fields` is `None` if any will do. `pattern[0]` matches its first field, `pattern[-1]` its last."""

    PARTS: ClassVar[tuple[str, ...]] = ("fields",)
    fields: tuple[Pattern, ...] | None = None

    def __getitem__(self, index: int) -> "TupleGetItemPattern":
        count = len(self.fields or ())
        if not -count <= index < count:
            raise IndexError("the pattern has no such field")
        return TupleGetItemPattern(self, index % count)


@dataclass(frozen=True, slots=True, eq=False)
class UnorderedTuplePattern(Pattern):
    """A tuple of as many fields as there are patterns, each of which matches one of them, in any order."""

    PARTS: ClassVar[tuple[str, ...]] = ("fields",)
    fields: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TupleGetItemPattern(Pattern):
    """The field `index` of a tuple, any field if that is `None`."""

    PARTS: ClassVar[tuple[str, ...]] = ("tuple_value",)
    tuple_value: Pattern
    index: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AltPattern(Pattern):
    """The first of `options` that matches."""

    PARTS: ClassVar[tuple[str, ...]] = ("options",)
    options: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AndPattern(Pattern):
    """What matches every one of `options`."""

    PARTS: ClassVar[tuple[str, ...]] = ("options",)
    options: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NotPattern(Pattern):
    """What does not match `pattern`; no part of that is bound to anything."""

    PARTS: ClassVar[tuple[str, ...]] = ("pattern",)
    pattern: Pattern


@dataclass(frozen=True, slots=True, eq=False)
class AttrPattern(Pattern):
    """`pattern`, with attributes."""

    PARTS: ClassVar[tuple[str, ...]] = ("pattern",)
    pattern: Pattern
    attrs: Attrs


@dataclass(frozen=True, slots=True, eq=False)
class TypePattern(Pattern):
    """`pattern`, of the type `type`."""

    PARTS: ClassVar[tuple[str, ...]] = ("pattern",)
    pattern: Pattern
    type: Type


@dataclass(frozen=True, slots=True, eq=False)
class SubtypePattern(Pattern):
    """`pattern`, each of whose values is one of the type `type`."""

    PARTS: ClassVar[tuple[str, ...]] = ("pattern",)
    pattern: Pattern
    type: Type


@dataclass(frozen=True, slots=True, eq=False)
class DataTypePattern(Pattern):
    """`pattern`, a tensor of `dtype`."""

    PARTS: ClassVar[tuple[str, ...]] = ("pattern",)
    pattern: Pattern
    dtype: str


@dataclass(frozen=True, slots=True, eq=False)
class ShapePattern(Pattern):
    """`pattern`, a tensor of `shape`; `None` stands for any size."""

    PARTS: ClassVar[tuple[str, ...]] = ("pattern",)
    pattern: Pattern
    shape: tuple[Size, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DominatorPattern(Pattern):
    """`child`, all of whose inputs lead to one `parent` over nodes that each match `path`."""

    PARTS: ClassVar[tuple[str, ...]] = ("child", "path", "parent")
    parent: Pattern
    path: Pattern
    child: Pattern


AnyPattern: TypeAlias = (
    WildcardPattern
    | ExprPattern
    | VarPattern
    | DataflowVarPattern
    | GlobalVarPattern
    | ExternFuncPattern
    | PrimArrPattern
    | ConstantPattern
    | CallPattern
    | OperatorPattern
    | ScalarPattern
    | FunctionPattern
    | IfPattern
    | LetPattern
    | TuplePattern
    | UnorderedTuplePattern
    | TupleGetItemPattern
    | AltPattern
    | AndPattern
    | NotPattern
    | AttrPattern
    | TypePattern
    | SubtypePattern
    | DataTypePattern
    | ShapePattern
    | DominatorPattern
)


def wildcard() -> WildcardPattern:
    """Match anything."""
    return WildcardPattern()


def is_op(name: str) -> ExprPattern:
    """Match the operator `name` itself; called, a call of it: `is_op("nn.relu")(wildcard())`."""
    return ExprPattern(Op(name))


def is_expr(expr: Expr) -> ExprPattern:
    """Match what is structurally equal to `expr`."""
    return ExprPattern(expr)


def is_global(name: str) -> ExprPattern:
    """Match the global function `name`."""
    return ExprPattern(GlobalVar(name))


def is_number(value: int | float, dtype: str | None = None) -> ExprPattern:
    """Match the literal of rank 0 that is `value`; a Python int is int32 and a float float32 without `dtype`."""
    return ExprPattern(constant(value, dtype))


def is_var(name: str = "") -> VarPattern:
    """Match a variable, by its name if one is given."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """Match a tensor literal."""
    return ConstantPattern()


def is_tuple(fields: tuple[Pattern, ...] | None = None) -> TuplePattern:
    """Match a tuple."""
    return TuplePattern(fields if fields is None else tuple(fields))


def is_tuple_get_item(tuple_value: Pattern, index: int | None = None) -> TupleGetItemPattern:
    """Match the field `index` of a tuple; -1 and `None` match any field."""
    return TupleGetItemPattern(tuple_value, None if index == -1 else index)


def is_if(condition: Pattern, true_branch: Pattern, false_branch: Pattern) -> IfPattern:
    """Match a conditional."""
    return IfPattern(condition, true_branch, false_branch)


def is_let(var: Pattern, value: Pattern, body: Pattern) -> LetPattern:
    """Match a let."""
    return LetPattern(var, value, body)


def is_function(params: tuple[Pattern, ...] | None, body: Pattern) -> FunctionPattern:
    """Match a function."""
    return FunctionPattern(params if params is None else tuple(params), body)


def dominates(parent: Pattern, path: Pattern, child: Pattern) -> DominatorPattern:
    """Match `child`, all of whose inputs lead to one `parent` over nodes that each match `path`."""
    return DominatorPattern(parent, path, child)


def parts(pattern: Pattern) -> tuple[Pattern, ...]:
    """Return the direct parts of `pattern`, in the order of matching."""
    found: list[Pattern] = []
    for name in pattern.PARTS:
        part: Pattern | tuple[Pattern, ...] | None = getattr(pattern, name)
        if isinstance(part, Pattern):
            found.append(part)
        else:
            found.extend(part or ())
    return tuple(found)


def subpatterns(pattern: Pattern) -> tuple[Pattern, ...]:
    """Return all parts of `pattern`, each once, a part before what holds it.

    What a wildcard is redirected to comes behind `pattern`, which is the last otherwise.
    """
    order: dict[Pattern, None] = {}
    roots = [pattern]
    for root in roots:
        stack: list[tuple[Pattern, bool]] = [(root, False)]
        while stack:
            current, is_done = stack.pop()
            if is_done:
                order[current] = None
                roots += current.targets if isinstance(current, WildcardPattern) else ()
            elif current not in order:
                stack.append((current, True))
                stack.extend((part, False) for part in reversed(parts(current)))
    return tuple(order)


P = TypeVar("P", bound=Pattern)


def _duplicate(pattern: P) -> P:
    copies: dict[Pattern, Pattern] = {}
    for item in subpatterns(pattern):
        changed = {
            name: tuple(copies[part] for part in cast("tuple[Pattern, ...]", held)) if isinstance(held, tuple) else held
            for name in item.PARTS
            if (held := getattr(item, name)) is not None
        }
        changed = {
            name: copies.get(held, held) if isinstance(held, Pattern) else held for name, held in changed.items()
        }
        copies[item] = WildcardPattern() if isinstance(item, WildcardPattern) else replace(item, **changed)
    for item, copy in copies.items():
        if isinstance(item, WildcardPattern) and isinstance(copy, WildcardPattern):
            copy.targets[:] = [copies[target] for target in item.targets]
    made = copies[pattern]
    assert isinstance(made, type(pattern)), "a copy is of the same class"
    return made


def _options(pattern: Pattern) -> tuple[Pattern, ...]:
    return pattern.options if isinstance(pattern, AltPattern) else (pattern,)


def _frozen(value: Any) -> AttrValue:
    """Return the value of an attribute with tuples for lists, which people write in Python."""
    return tuple(map(_frozen, cast("list[Any]", value))) if isinstance(value, list | tuple) else value
