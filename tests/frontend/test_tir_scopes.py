"""Statements whose scope ends before their list does, and blocks side by side, read back equal."""

import pytest

from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import FloatImm, IntImm, Intrinsic, PointerVar, PrimExpr, PrimVar
from relax_core.ir.tir import (
    Allocate,
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRealize,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relax_core.printer.spelling import Spelling
from relax_core.printer.tvmscript import print_module


def i32(value: int) -> IntImm:
    return IntImm(value, "int32")


B = Buffer("B", (i32(8),), "float32")
C, D = Buffer("C", (i32(4),), "float32"), Buffer("D", (i32(4),), "float32")
SCALAR = Buffer("s", (i32(1),), "int32", scope="local")
ZERO, ONE, TRUE = i32(0), i32(1), IntImm(1, "bool")
P = PointerVar("p", "handle", "float32", "global")
X, Y, TX = PrimVar("x", "int32"), PrimVar("y", "int32"), PrimVar("tx", "int32")


def store(index: PrimExpr | int, buffer: Buffer = B) -> Stmt:
    return BufferStore(buffer, (i32(index) if isinstance(index, int) else index,), FloatImm(1.0))


def ret(value: int) -> Stmt:
    return Evaluate(Intrinsic("ret", (i32(value),), "void"))


SET_AND_USE = SeqStmt((BufferStore(SCALAR, (ZERO,), i32(3)), store(BufferLoad(SCALAR, (ZERO,)))))
BODIES: dict[str, Stmt] = {
    "a let and a store": SeqStmt((LetStmt(X, ONE, store(X)), store(2))),
    "a let and a let": SeqStmt((LetStmt(X, ONE, store(X)), LetStmt(Y, ONE, SeqStmt((store(Y), store(3)))))),
    "a store and a let": SeqStmt((store(0), LetStmt(X, ONE, store(X)))),
    "lets of one name": SeqStmt((LetStmt(X, ONE, store(X)), LetStmt(PrimVar("x", "int32"), ONE, store(1)))),
    "lets in a let": SeqStmt((LetStmt(X, ONE, SeqStmt((LetStmt(Y, X, store(Y)), store(X)))), store(1))),
    "a variable and a store": SeqStmt((DeclBuffer(SCALAR, SET_AND_USE, is_scalar=True), store(2))),
    "a buffer and a store": SeqStmt((DeclBuffer(C, store(0, C)), store(2))),
    "an attribute and a store": SeqStmt((AttrStmt(ZERO, "k", ONE, store(0)), store(2))),
    "threads and a store": SeqStmt((LaunchThread(TX, "threadIdx.x", i32(4), store(TX)), store(2))),
    "memory and a store": SeqStmt((Allocate(P, "float32", (i32(4),), "global", store(1)), store(2))),
    "a realisation and a store": SeqStmt(
        (BufferRealize(BufferRegion(B, (ZERO,), (i32(4),)), "global", store(0)), store(1))
    ),
    "blocks side by side": SeqStmt((Block("", (), store(1)), Block("", (), store(2)))),
    "blocks with regions": SeqStmt((Block("", (), store(1), reads=(), writes=()), Block("", (), store(2)))),
    "blocks with buffers": SeqStmt(
        (Block("", (), store(0, C), alloc_buffers=(C,)), Block("", (), store(0, D), alloc_buffers=(D,)))
    ),
    "a root with buffers": Block("root", (), SeqStmt((Block("", (), store(1)), store(2))), alloc_buffers=(C,)),
    "a root without buffers": Block("root", (), SeqStmt((Block("", (), store(1)), Block("b", (), store(2))))),
    "a root and a store": SeqStmt((Block("root", (), store(1), alloc_buffers=(C,)), store(2))),
    "a block in a let": LetStmt(X, ONE, Block("", (), store(X))),
    "a let in a loop": For(Y, ZERO, i32(4), SeqStmt((LetStmt(X, Y, store(X)), store(Y)))),
    "lets in both branches": IfThenElse(
        TRUE, LetStmt(X, ONE, store(X)), LetStmt(Y, ONE, SeqStmt((store(Y), store(1))))
    ),
    "a let in an init": Block("b", (IterVar(Y, i32(4), ZERO, "reduce"),), store(Y), LetStmt(X, ZERO, store(X))),
    "returns": SeqStmt((IfThenElse(TRUE, ret(1)), ret(0))),
}
SPELLINGS: tuple[Spelling, ...] = ("2026", "2025", "2023", "2022")


def module_of(body: Stmt) -> IRModule:
    handle = PrimVar("b", "handle")
    return IRModule((Definition(GlobalVar("f"), PrimFunc((handle,), (BufferParam(handle, B),), body)),))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", BODIES)
def test_it_reads_back_equal(name: str, spelling: Spelling) -> None:
    module = module_of(BODIES[name])
    text = print_module(module, spelling=spelling).text
    again = parse_text(text, "scopes.py")
    assert [item.render() for item in again.diagnostics if item.severity == "error"] == [], text
    assert first_difference(module, again.modules[0], strict=True) is None, text


def test_an_empty_list_is_a_program_that_does_nothing() -> None:
    text = print_module(module_of(For(Y, ZERO, i32(4), SeqStmt(())))).text
    assert "T.evaluate(0)" in text
    assert [item for item in parse_text(text, "empty.py").diagnostics if item.severity == "error"] == []
