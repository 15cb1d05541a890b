"""Relay programs that the tests of the checker write down."""

from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Expr, Function, GlobalVar, TensorType, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import IntImm
from relax_core.ops.relay.show import show_type

LIST = """
type List[A] { Cons(A, List[A]), Nil }
"""
FUNCTIONS = """
def @foldl[A, B](%f: fn(B, A) -> B, %acc: B, %xs: List[A]) -> B {
  match (%xs) { Cons(%x, %r) => @foldl(%f, %f(%acc, %x), %r), Nil => %acc }
}
def @flip[A, B, C](%f: fn(A, B) -> C) -> fn(B, A) -> C { fn (%b: B, %a: A) { %f(%a, %b) } }
def @map[A, B](%f: fn(A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) { Cons(%x, %r) => Cons(%f(%x), @map(%f, %r)), Nil => Nil }
}
"""
VECTOR = TensorType((IntImm(2), IntImm(3)), "float32")


def module_of(body: str) -> IRModule:
    """Parse a module; the text must be sound."""
    parsed = parse_text('#[version = "0.0.5"]\n' + body, "test.relay")
    assert not [item for item in parsed.diagnostics if item.severity == "error"], parsed.diagnostics
    (module,) = parsed.modules
    return module


def signatures(module: IRModule) -> dict[str, str]:
    """Return the types of the functions by name."""
    types = infer(module).types
    return {item.var.name: show_type(types[item.var]) for item in module}


def local_types(module: IRModule) -> dict[str, str]:
    """Return the types of the variables by name."""
    return {node.name: show_type(type_) for node, type_ in infer(module).types.items() if isinstance(node, Var)}


def codes(module: IRModule) -> list[str]:
    """Return the codes of what is wrong, in the order of the text."""
    return [item.code for item in check(module)]


def by_hand(body: Expr, *params: Var, **others: Function) -> IRModule:
    """Make a module whose `main` has the body."""
    named = [Definition(GlobalVar(name), function) for name, function in others.items()]
    return IRModule((Definition(GlobalVar("main"), Function(params, body)), *named), attrs=(("dialect", "relay"),))
