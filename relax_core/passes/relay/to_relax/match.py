"""Patterns of `match` as tests of tags: an `if` per clause, the next clause in its else branch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from relax_core.ir.expr import OBJECT, Expr, If, PrimValue, TupleGetItem, TupleType, Type, Var
from relax_core.ir.node import Node
from relax_core.ir.prim import const
from relax_core.ir.relay import (
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
)
from relax_core.passes.relay.to_relax.block import BOOL, INT, Block, number
from relax_core.passes.relay.to_relax.types import erased


@dataclass(slots=True)
class Matcher:
    """Tests and takes apart the values of one `match`.

    `type_of` are Relay's types; `tags` numbers constructors; `placed` puts what is taken out on the device of the data.
    """

    type_of: Mapping[Node, Type]
    tags: Mapping[str, int]
    origin: Node
    placed: Callable[[Type], Type]

    def pattern_type(self, pattern: Pattern) -> Type:
        """Return what a value that `pattern` takes is."""
        match pattern:
            case PatternVar(var=var):
                return erased(self.type_of.get(var, OBJECT))
            case PatternTuple(patterns=patterns):
                return TupleType(tuple(map(self.pattern_type, patterns)))
            case _:
                return OBJECT

    def is_irrefutable(self, pattern: Pattern) -> bool:
        """Tell whether the pattern takes every value."""
        match pattern:
            case PatternConstructor():
                return False
            case PatternTuple(patterns=patterns):
                return all(map(self.is_irrefutable, patterns))
            case _:
                return True

    def test(self, pattern: Pattern, value: Expr, block: Block) -> Expr:
        """Return the atom that tells whether `pattern`, which is refutable, takes `value`.

        The fields of a value are looked at only if its constructor is the pattern's.
        """
        match pattern:
            case PatternConstructor(constructor=constructor, patterns=patterns):
                tag = block.packed("vm.builtin.get_tag", (value,), INT, self.origin, hint="tag")
                args = (tag, number(self.tags[constructor.name]))
                is_it = block.packed("vm.builtin.is_tag", args, BOOL, self.origin, hint="is_it")
                if all(map(self.is_irrefutable, patterns)):
                    return is_it
                yes = block.inner(self.origin)
                result = self._all(patterns, value, yes, is_data=True)
                no = block.inner(self.origin)
                branches = (yes.sequence(result, self.origin), no.sequence(PrimValue(const(False)), self.origin))
                return block.emit(If(is_it, *branches, span=self.origin.span), BOOL, self.origin, "is_it")
            case PatternTuple(patterns=patterns):
                whole = block.cast(value, self.pattern_type(pattern), self.origin)
                return self._all(patterns, whole, block, is_data=False)
            case _:
                return PrimValue(const(True))

    def _all(self, patterns: tuple[Pattern, ...], value: Expr, block: Block, *, is_data: bool) -> Expr:
        """Test the fields that can fail, one after the other."""
        tested = [k for k, item in enumerate(patterns) if not self.is_irrefutable(item)]
        first, *rest = tested
        result = self.test(patterns[first], self.field(value, first, patterns[first], block, is_data=is_data), block)
        if not rest:
            return result
        yes, no = block.inner(self.origin), block.inner(self.origin)
        kept = tuple(item if k in rest else PatternVar(Var("_")) for k, item in enumerate(patterns))
        both = self._all(kept, value, yes, is_data=is_data)
        branches = (yes.sequence(both, self.origin), no.sequence(PrimValue(const(False)), self.origin))
        return block.emit(If(result, *branches, span=self.origin.span), BOOL, self.origin, "is_it")

    def field(self, value: Expr, index: int, pattern: Pattern, block: Block, *, is_data: bool) -> Expr:
        """Take a field of a value of a data type, or of a tuple."""
        type_ = self.pattern_type(pattern)
        origin, hint = (pattern.var, pattern.var.name) if isinstance(pattern, PatternVar) else (self.origin, "field")
        if is_data:
            made = (value, number(index))
            return block.packed("vm.builtin.adt_field", made, self.placed(type_), origin, hint=hint)
        known = block.supply.known(value)
        inner = known.fields[index] if isinstance(known, TupleType) else OBJECT
        taken = block.emit(TupleGetItem(value, index, span=origin.span), inner, origin, hint)
        return block.cast(taken, type_, origin)

    def take(self, pattern: Pattern, value: Expr, block: Block) -> dict[Var, Expr]:
        """Take apart a value that `pattern` takes; return what its variables stand for."""
        bound: dict[Var, Expr] = {}
        stack: list[tuple[Pattern, Expr]] = [(pattern, value)]
        while stack:
            current, part = stack.pop()
            match current:
                case PatternVar(var=var):
                    bound[var] = block.cast(part, self.pattern_type(current), self.origin)
                case PatternConstructor(patterns=patterns):
                    stack += self._fields(patterns, part, block, is_data=True)
                case PatternTuple(patterns=patterns):
                    whole = block.cast(part, self.pattern_type(current), self.origin)
                    stack += self._fields(patterns, whole, block, is_data=False)
                case _:
                    pass
        return bound

    def _fields(
        self, patterns: tuple[Pattern, ...], value: Expr, block: Block, *, is_data: bool
    ) -> list[tuple[Pattern, Expr]]:
        found: list[tuple[Pattern, Expr]] = []
        for k, item in enumerate(patterns):
            if not isinstance(item, PatternWildcard):
                found.insert(0, (item, self.field(value, k, item, block, is_data=is_data)))
        return found
