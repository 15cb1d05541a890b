"""Where shared nodes of Relay are computed, and which functions have effects."""

from relax_core.analysis.relay_effects import effects_of
from relax_core.analysis.relay_scopes import scopes_of
from relax_core.ir.expr import Call, Function, If, Op, TupleGetItem, Var
from relax_core.ir.node import preorder
from relax_core.ir.relay import Let, Match
from relax_core.ir.rewriting.substitute import free_vars
from tests.passes.relay.running import parsed

SHARED = """
def @main(%b: bool, %x: int32) -> int32 {
  %0 = negative(%x);
  %1 = abs(%x);
  %2 = exp(cast(%x, dtype="float32"));
  let %y = if (%b) { %1 + %0 } else { if (%b) { %1 } else { cast(%2, dtype="int32") } };
  let %f = fn (%z: int32) -> int32 { %3 = copy(%z); %3 + %3 + %0 };
  %f(%y)
}
"""


def test_a_node_belongs_to_the_innermost_scope_of_its_uses() -> None:
    function = parsed(SHARED)["main"]
    assert isinstance(function, Function)
    scopes = scopes_of(function)
    of = {node.op.name: node for node in preorder(function) if isinstance(node, Call) and isinstance(node.op, Op)}
    body = scopes.inner[function][0]
    assert {name for name in of if of[name] in scopes.shared} == {"negative", "abs", "copy"}
    assert scopes.scope_of[of["negative"]] is body
    assert scopes.scope_of[of["abs"]] is body
    inner_if = next(node for node in preorder(function) if isinstance(node, If) and scopes.scope_of[node] is not body)
    assert scopes.scope_of[of["exp"]] is scopes.inner[inner_if][1]
    let_function = next(node.value for node in preorder(function) if isinstance(node, Let) and node.var.name == "f")
    assert scopes.scope_of[of["copy"]] is scopes.inner[let_function][0]
    assert (body.depth, scopes.scope_of[of["exp"]].depth) == (1, 3)


EFFECTS = """
def @pure(%x: int32) -> int32 { let %g = fn (%y: int32) -> int32 { @even(%y) }; %g(%x) }
def @even(%x: int32) -> int32 { if (%x == 0) { 1 } else { @odd(%x - 1) } }
def @odd(%x: int32) -> int32 { if (%x == 0) { 0 } else { @even(%x - 1) } }
def @writes(%r: ref(int32)) -> () { ref_write(%r, 1) }
def @through(%r: ref(int32)) -> () { let %f = fn () -> () { @writes(%r) }; %f() }
def @unknown(%f: fn (int32) -> int32) -> int32 { %f(1) }
def @makes(%r: ref(int32)) -> fn () -> () { fn () -> () { @writes(%r) } }
"""


def test_functions_without_effects_are_found_through_calls_and_cycles() -> None:
    module = parsed(EFFECTS)
    effects = effects_of(module)
    assert effects.pure_globals == {"pure", "even", "odd", "makes"}
    through = module["through"]
    assert isinstance(through, Function)
    assert not effects.is_pure_function(through)
    lets = [node for node in preorder(through) if isinstance(node, Let)]
    assert effects.is_pure(lets[0].value)


def test_lets_and_patterns_bind() -> None:
    text = "{ let %y = 1; match? (%xs) { Cons(%x, _) => %x + %y + %k } }"
    function = parsed(f"def @main(%xs: List[int32], %k: int32) -> int32 {text}")["main"]
    assert isinstance(function, Function)
    assert free_vars(function) == ()
    assert [item.name for item in free_vars(function.body)] == ["xs", "k"]
    assert [item.name for item in free_vars(next(n for n in preorder(function) if isinstance(n, Match)))] == [
        "xs",
        "y",
        "k",
    ]
    assert isinstance(function.params[0], Var)
    assert free_vars(TupleGetItem(function.params[0], 0)) == (function.params[0],)
