"""Well-formed Relay, and the cover of matches: programs made by hand, for the text's reader refuses many of them."""

import pytest

from relax_core.check.check import check
from relax_core.check.relay.matching import coverage
from relax_core.ir.expr import AdtType, Call, Expr, Function, GlobalVar, Op, Tuple, TypeVar, Var, constant
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.relay import (
    Clause,
    Constructor,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    TypeData,
)
from tests.check.relay.programs import VECTOR, by_hand, codes

A = TypeVar("A")
CONS = Constructor("Cons", "List", (A, AdtType("List", (A,))))
NIL = Constructor("Nil", "List")
LIST = TypeData("List", (A,), (CONS, NIL))
ANY = PatternWildcard()
X, Y = Var("x", VECTOR), Var("y")


def cons(head: Pattern, tail: Pattern) -> Pattern:
    return PatternConstructor(CONS, (head, tail))


def end() -> Pattern:
    return PatternConstructor(NIL)


COVERS: dict[str, tuple[list[Pattern], str | None, tuple[int, ...]]] = {
    "nothing": ([], "_", ()),
    "one wildcard": ([ANY], None, ()),
    "both constructors": ([cons(ANY, ANY), end()], None, ()),
    "one constructor": ([end()], "Cons(_, _)", ()),
    "a hole inside": ([cons(ANY, cons(ANY, ANY)), end()], "Cons(_, Nil)", ()),
    "three deep": ([end(), cons(ANY, end()), cons(ANY, cons(ANY, end()))], "Cons(_, Cons(_, Cons(_, _)))", ()),
    "a needless clause": ([ANY, end()], None, (1,)),
    "needless together": ([cons(ANY, end()), cons(ANY, cons(ANY, ANY)), cons(ANY, ANY), end()], None, (2,)),
    "tuples": ([PatternTuple((end(), ANY)), PatternTuple((ANY, end()))], "(Cons(_, _), Cons(_, _))", ()),
    "variables": ([cons(PatternVar(Y), ANY), PatternVar(Y)], None, ()),
}


@pytest.mark.parametrize(("patterns", "missing", "redundant"), COVERS.values(), ids=COVERS)
def test_what_patterns_cover(patterns: list[Pattern], missing: str | None, redundant: tuple[int, ...]) -> None:
    found = coverage(patterns, {"List": LIST})
    assert (found.missing, found.redundant, found.is_known) == (missing, redundant, True)


def test_all_that_is_left_out_is_named_if_it_is_little() -> None:
    found = coverage([cons(ANY, cons(ANY, ANY))], {"List": LIST})
    assert (found.missing, found.further, found.is_cut) == ("Nil", ("Cons(_, Nil)",), False)
    deep = cons(ANY, cons(ANY, cons(ANY, cons(ANY, cons(ANY, end())))))
    found = coverage([deep], {"List": LIST})
    assert (found.missing, len(found.further), found.is_cut) == ("Nil", 3, True)


def test_patterns_beyond_number_are_given_up() -> None:
    width = 24
    rows = [PatternTuple(tuple(end() if k == i else ANY for k in range(width))) for i in range(width)]
    rows += [PatternTuple(tuple(cons(ANY, ANY) if k == i else ANY for k in range(width))) for i in range(1, width)]
    assert not coverage(rows, {"List": LIST}).is_known


def with_list(body: Expr, *params: Var, data: tuple[TypeData, ...] = (LIST,)) -> IRModule:
    return IRModule((Definition(GlobalVar("main"), Function(params, body)),), type_data=data)


def test_a_variable_that_nothing_binds() -> None:
    (found,) = check(by_hand(Call(Op("add"), (X, Var("z"))), X))
    assert (found.code, found.message) == ("RY030", "%z is not bound")


def test_a_variable_outside_its_let() -> None:
    assert codes(by_hand(Tuple((Let(Y, X, Y), Y)), X)) == ["RY030"]


def test_a_pattern_variable_outside_its_clause() -> None:
    xs = Var("xs", AdtType("List", (VECTOR,)))
    match_ = Match(xs, (Clause(cons(PatternVar(Y), ANY), Y), Clause(end(), Y)))
    assert codes(with_list(match_, xs)) == ["RY030"]


def test_a_recursive_let_sees_itself_only_as_a_function() -> None:
    f = Var("f")
    assert codes(by_hand(Let(f, Function((X,), Call(f, (X,)), VECTOR), f))) == []
    assert codes(by_hand(Let(Y, Call(Op("add"), (Y, Y)), Y))) == ["RY030"]


def test_a_variable_bound_twice() -> None:
    assert codes(by_hand(Let(Y, X, Let(Y, X, Y)), X)) == ["RY031"]
    xs = Var("xs", AdtType("List", (AdtType("List", (VECTOR,)),)))
    twice = PatternConstructor(CONS, (PatternConstructor(CONS, (PatternVar(Y), ANY)), cons(PatternVar(Y), ANY)))
    assert "RY031" in codes(with_list(Match(xs, (Clause(twice, X), Clause(ANY, X))), xs, X))


def test_constructors_share_one_space_of_names() -> None:
    other = TypeData("Other", (), (Constructor("Nil", "Other"),))
    assert codes(with_list(X, X, data=(LIST, other))) == ["RY031"]
    assert codes(with_list(X, X, data=(LIST, LIST))) == ["RY031"] * 3


def test_types_that_do_not_exist() -> None:
    for type_ in (AdtType("Lsit", (VECTOR,)), AdtType("List"), AdtType("List", (AdtType("Nope"),))):
        assert codes(with_list(Var("xs", type_), Var("xs", type_)))[:1] == ["RY021"]


def test_a_type_variable_out_of_scope() -> None:
    y = Var("y", TypeVar("B"))
    assert codes(by_hand(y, y)) == ["RY022"]


def test_a_function_that_is_not_there() -> None:
    (found,) = check(by_hand(Call(GlobalVar("mian"), (X,)), X))
    assert (found.code, found.severity, found.hint) == ("RY032", "warning", "did you mean @main?")


def test_a_match_made_by_hand_is_checked() -> None:
    xs = Var("xs", AdtType("List", (VECTOR,)))
    one = constant(1)
    assert codes(with_list(Match(xs, (Clause(end(), one),)), xs)) == ["RY015"]
    assert codes(with_list(Match(xs, (Clause(end(), one),), is_complete=False), xs)) == []
    assert codes(with_list(Match(xs, (Clause(PatternConstructor(CONS, (ANY,)), one), Clause(ANY, one))), xs)) == [
        "RY017"
    ]
