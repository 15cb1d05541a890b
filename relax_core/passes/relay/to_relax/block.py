"""The blocks of Relax that RelayToRelax builds, and what is known of the values in them."""

from collections import Counter
from dataclasses import dataclass, field

from relax_core.ir.expr import (
    OBJECT,
    BindingBlock,
    Call,
    Constant,
    Expr,
    ExternFunc,
    GlobalVar,
    MatchCast,
    Op,
    PrimType,
    PrimValue,
    SeqExpr,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children, map_children, postorder
from relax_core.ir.prim import StringImm, const
from relax_core.ir.relay import Constructor, Let
from relax_core.ir.rewriting.builder import Names
from relax_core.passes.core import PassContext
from relax_core.passes.relay.to_relax.devices import Places
from relax_core.passes.relay.to_relax.types import CALLABLE, needs_cast

BOOL = PrimType("bool")
INT = PrimType("int64")

DEPTH_LIMIT = 150


@dataclass(slots=True)
class Supply:
    """What the blocks of one function share: names, devices, and the type that is known of each variable."""

    ctx: PassContext
    names: Names
    places: Places | None = None
    type_of: dict[Var, Type] = field(default_factory=dict[Var, Type])

    def known(self, atom: Expr) -> Type:
        """Return what is known of an atom."""
        match atom:
            case Var():
                return self.type_of.get(atom, OBJECT)
            case Constant(data=data):
                return TensorType(tuple(const(size) for size in data.shape), str(data.dtype))
            case GlobalVar():
                return CALLABLE
            case Tuple(fields=fields):
                return TupleType(tuple(map(self.known, fields)))
            case _:
                return OBJECT


@dataclass(slots=True)
class Block:
    """The bindings of one sequence; `opened` are tensors whose sizes got names here."""

    supply: Supply
    parent: "Block | None" = None
    depth: int = 0
    bindings: list[VarBinding | MatchCast] = field(default_factory=list["VarBinding | MatchCast"])
    opened: dict[Expr, tuple[Expr, Type]] = field(default_factory=dict[Expr, tuple[Expr, Type]])

    def inner(self, origin: Node, *, is_function: bool = False) -> "Block":
        """Return a block for the branch or local function `origin`; what was opened here is not for a function.

        Raises:
            CompileError: PS011 if the nesting is deeper than the passes on Relax go.
        """
        if self.depth == DEPTH_LIMIT:
            message = f"the program is nested more than {DEPTH_LIMIT} deep here: branches, clauses and functions"
            self.supply.ctx.fail("PS011", message, origin, "make global functions of the inner parts")
        return Block(self.supply, None if is_function else self, self.depth + 1)

    def emit(self, value: Expr, type_: Type, origin: Node, hint: str = "gv") -> Var:
        """Bind `value`, which stems from `origin`, to a fresh variable of which `type_` is known."""
        var = Var(self.supply.names.fresh(hint), span=origin.span)
        self.bind(var, value, type_, origin)
        return var

    def bind(self, var: Var, value: Expr, type_: Type, origin: Node) -> None:
        """Bind `value` to a variable that exists."""
        self.supply.type_of[var] = type_
        binding = VarBinding(var, value, span=origin.span)
        self.bindings.append(self.supply.ctx.derive(binding, origin))

    def with_shared(self, value: Expr, origin: Node) -> Expr:
        """Return `value` with a variable for each part that it uses more than once."""
        use_count = Counter(child for node in postorder(value) for child in children(node))
        new_of: dict[Node, Node] = {}
        for node in postorder(value):
            made = map_children(node, new_of.__getitem__)
            is_shared = isinstance(node, Call | Tuple) and use_count[node] > 1
            new_of[node] = self.emit(made, OBJECT, origin) if is_shared and isinstance(made, Expr) else made
        result = new_of[value]
        assert isinstance(result, Expr), "an expression stays one"
        return result

    def cast(self, atom: Expr, wanted: Type, origin: Node) -> Expr:
        """Return `atom` as a `wanted`, checked when the program runs if that is not known."""
        if not needs_cast(self.supply.known(atom), wanted):
            return atom
        self.supply.ctx.remark(origin, "note", "what is known of the value is less than its type: checked when it runs")
        name = atom.name if isinstance(atom, Var) else "cast"
        var = Var(self.supply.names.fresh(name), span=origin.span)
        self.supply.type_of[var] = wanted
        self.bindings.append(self.supply.ctx.derive(MatchCast(var, atom, wanted, span=origin.span), origin))
        return var

    def packed(self, name: str, args: tuple[Expr, ...], type_: Type, origin: Node, *, hint: str = "gv") -> Var:
        """Call a builtin without effects."""
        call = Call(Op("relax.call_pure_packed"), (ExternFunc(name), *args), type_args=(type_,), span=origin.span)
        return self.emit(call, type_, origin, hint)

    def effect(self, name: str, args: tuple[Expr, ...], type_: Type, origin: Node, *, hint: str = "gv") -> Var:
        """Call a builtin that works on a reference."""
        return self.emit(Call(ExternFunc(name), args, type_args=(type_,), span=origin.span), type_, origin, hint)

    def data(self, constructor: Constructor, tag: int, fields: tuple[Expr, ...], origin: Node) -> Var:
        """Make a value of a data type."""
        args = (PrimValue(StringImm(constructor.name)), number(tag), *fields)
        return self.packed("vm.builtin.make_adt", args, OBJECT, origin, hint=constructor.name.lower())

    def find_opened(self, atom: Expr) -> tuple[Expr, Type] | None:
        """Return the variable with named sizes that stands for `atom`, and its type."""
        block: Block | None = self
        while block is not None:
            if atom in block.opened:
                return block.opened[atom]
            block = block.parent
        return None

    def sequence(self, result: Expr, origin: Node, at: Node | None = None) -> SeqExpr:
        """Return the sequence of the bindings with its result, which stems from what `origin` returns.

        It has the place of `at`, or else that of `origin`.
        """
        span = (at or origin).span
        blocks = (BindingBlock(tuple(self.bindings), span=span),) if self.bindings else ()
        if span is not None and result.span is not None and result.span.end > span.end:
            # A graph begins with its first operator; its result is another one.
            span = span.to(result.span)
        made = SeqExpr(blocks, result, span=span)
        returned = origin
        while isinstance(returned, Let):
            returned = returned.body
        self.supply.ctx.log.rebuilt(returned, made)
        return self.supply.ctx.derive(made, origin)


def number(value: int) -> PrimValue:
    """Make an integer argument."""
    return PrimValue(const(value))
