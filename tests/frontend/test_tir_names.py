"""Every name of `T` in apache-tvm is read and reads back equal, or is refused by a diagnostic that names it."""

import tomllib
from pathlib import Path

import pytest

from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.printer.tvmscript import Spelling, print_module

NAMES: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("tir_names.toml").read_text(encoding="utf-8"))
HEAD = """\
@T.prim_func(s_tir=True)
def f(A: T.Buffer((16, 4), "float32"), B: T.Buffer((128,), "float32"), n: T.int32, p: T.handle("float32", "global")):
"""
SPELLINGS: tuple[Spelling, ...] = ("2026", "2023", "2022")
# Names of Python values that describe memory or threads of GPUs, and calls of the builder that are no statements.
REFUSED = frozenset(
    (
        "Bind", "Buffer", "Ptr", "SMEMPool", "TensorMap", "Var", "While", "alloc_buffer", "alloc_local", "alloc_scalar",
        "alloc_shared", "bind", "bool", "boolean", "block_name_suffix_context", "buffer", "buffer_decl", "buffer_var",
        "grid", "handle", "init", "local_scalar", "meta_class", "parallel", "ptr", "register_script_namespace",
        "sblock", "sblock_alloc_buffer", "scalar_wrapper", "serial", "shared_scalar", "smem", "static_assert",
        "thread_binding", "tmem", "unroll", "var", "vectorized", "void", "wg_reg_tile",
    )
)  # fmt: skip


def program(statements: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in statements.split("\n"))


@pytest.mark.parametrize("name", sorted(name for name, programs in NAMES.items() if programs))
def test_a_name_is_read_and_reads_back_equal(name: str) -> None:
    for statements in NAMES[name]:
        parsed = parse_text(program(statements), "names.py")
        errors = [item for item in parsed.diagnostics if item.severity == "error"]
        if errors:
            assert name in REFUSED, (statements, errors[0].message)
            assert f"T.{name}" in errors[0].message
            assert errors[0].span is not None
            continue
        for spelling in SPELLINGS:
            again = parse_text(print_module(parsed.modules[0], spelling=spelling).text, "again.py")
            assert [item.render() for item in again.diagnostics if item.severity == "error"] == []
            assert first_difference(parsed.modules[0], again.modules[0], strict=True) is None


@pytest.mark.parametrize("name", sorted(name for name, programs in NAMES.items() if not programs))
def test_a_name_without_a_program_is_read_or_named(name: str) -> None:
    for statements in (f"T.evaluate(T.{name}(n, n))", f"x = T.{name}(n)", f"with T.{name}(n):\n    pass", f"T.{name}"):
        parsed = parse_text(program(statements), "names.py")
        errors = [item for item in parsed.diagnostics if item.severity == "error"]
        assert not errors or any(f"T.{name}" in item.message or "`x`" in item.message for item in errors), errors


@pytest.mark.tvm
def test_the_table_has_every_name_of_the_wheel() -> None:
    script = pytest.importorskip("tvm.script").tirx
    modules = ("builder", "parser", "tile")
    names = {name for name in dir(script) if not name.startswith("_") and name not in modules}
    values = {name for name in names if isinstance(getattr(script, name), int | str)}
    assert names - values <= {*NAMES}
