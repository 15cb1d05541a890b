"""The Operators page: the catalogue, and the sheet of one operator or packed function."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from relax_core.diagnostics import CompileError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from relax_core.jit.engine import Engine
from relax_core.ops import FAMILIES, find
from relax_core.ops.example import example as example_of
from relax_core.ops.relay import RELAY_NAME_OF
from relax_core.ops.spec import OpSpec
from relax_core.passes.pipeline import final_module, run_pipeline
from relax_core.present.catalog_of.catalog_models import Catalog, Entry, FactRow, Family, Form, SchemaRow, Sheet, Shown
from relax_core.present.catalog_of.operator_docs import MEANING
from relax_core.present.catalog_of.ops import Operator, OperatorParam, describe
from relax_core.present.catalog_of.packed import PackedFunction, PackedParam, packed_functions
from relax_core.present.code import plain_code, without_header
from relax_core.present.models import Code
from relax_core.present.words import dtype_text
from relax_core.printer.printed import Printed
from relax_core.printer.tvmscript import print_module
from relax_core.vm.objects.values import ShapeValue, dtype_name, kind_of, shape_text, show

PACKED = "packed/"
"""Prefix of packed functions where these and operators are named alike."""

_FIELD_LIMIT = 50


_PASSES = "Normalize, LegalizeOps"


def example(name: str) -> str:
    """Return a module whose `main` calls the operator, with or without "relax." or "R." before its name.

    Raises:
        KeyError: there is no such operator.
    """
    spec = find(f"relax.{name.removeprefix('R.').removeprefix('relax.')}")
    if spec is None:
        raise KeyError(name)
    return example_of(spec)


def example_tir(name: str) -> str:
    """Return the prim funcs that the example runs, as TVMScript; empty if it runs none."""
    module = _lowered_example(name)
    kernels = tuple(item for item in module.definitions if item.var in {var for var, _ in module.prim_funcs})
    return print_module(replace(module, definitions=kernels)).text if kernels else ""


def example_llvm(name: str) -> str:
    """Return the optimised LLVM IR of those prim funcs, one after the other; nothing is run."""
    engine = Engine()
    kernels = (engine.kernel(function, var.name) for var, function in _lowered_example(name).prim_funcs)
    return "\n".join(kernel.optimized_ir() for kernel in kernels)


def _lowered_example(name: str) -> IRModule:
    parsed = parse_text(example(name), f"{name}.py")
    if has_errors(parsed.diagnostics):
        raise CompileError(parsed.diagnostics)
    (module,) = parsed.modules
    return final_module(module, run_pipeline(module, _PASSES))


def catalog() -> Catalog:
    """Return the operators by family, in the order of the table, and the packed functions by name."""
    operators = tuple(Family(title, tuple(map(_entry, specs))) for title, specs in FAMILIES.items())
    return Catalog(operators, _packed_families())


def _entry(spec: OpSpec) -> Entry:
    return Entry(spec.short_name, spec.short_name, spec.summary, RELAY_NAME_OF.get(spec.name, ""), spec.realized_by)


def _packed_families() -> tuple[Family, ...]:
    found = packed_functions()
    parts = (
        ("Functions with a result", [item for item in found if item.is_pure]),
        ("Functions that write a tensor given to them", [item for item in found if not item.is_pure]),
    )
    return tuple(
        Family(title, tuple(Entry(PACKED + item.name, item.name, item.summary) for item in items))
        for title, items in parts
        if items
    )


def operator_sheet(spec: OpSpec, form: Form) -> Sheet:
    """Return the sheet of an operator, with its example and what LegalizeOps or the JIT makes of it."""
    item = describe(spec)
    listing, note = _lowered(item, form)
    name = item.name.removeprefix("relax.")
    return Sheet(
        name,
        name,
        item.summary,
        plain_code(item.signature, "call", "tvmscript"),
        ("pure" if item.is_pure else "has effects", item.pattern_kind.replace("_", " "), item.realized_by),
        tuple(map(_operator_row, item.params)),
        _operator_facts(item, MEANING[spec.realized_by]),
        plain_code(example(item.name), f"{name}.py", "tvmscript"),
        has_listing=True,
        listing=listing,
        listing_note=note,
    )


def _lowered(item: Operator, form: Form) -> tuple[Code | None, str]:
    """Return what the example is lowered to, or nothing and why."""
    try:
        text = example_tir(item.name) if form == "tir" else example_llvm(item.name)
    except CompileError as error:
        return None, next(found.message for found in error.diagnostics if found.severity == "error")
    if not text.strip():
        return None, item.reason or "The example runs no prim func."
    shown = without_header(Printed(text, ())).text if form == "tir" else text
    language = "tvmscript" if form == "tir" else "llvm"
    return plain_code(shown.strip("\n"), "TIR" if form == "tir" else "LLVM IR", language), ""


def _operator_row(param: OperatorParam) -> SchemaRow:
    notes = ("by name only" * param.is_keyword, "any number" * param.is_variadic)
    type_ = f"{param.kind} of {param.dtype}" if param.dtype else param.kind
    return SchemaRow(param.name, type_, param.default, tuple(filter(None, notes)))


def _operator_facts(item: Operator, meaning: str) -> tuple[FactRow, ...]:
    rule, refusals = rule_in_words(item.rule)
    return _facts(
        ("Type rule", rule),
        ("Refuses", refusals),
        ("Runs by", f"{item.realized_by}. {item.reason or meaning}"),
        ("At special values", item.special_values),
        ("Effects", "none" if item.is_pure else "yes: its calls are neither merged nor removed"),
        ("Pattern kind", f"{item.pattern_kind.replace('_', ' ')}, for the fusion of operators"),
        ("Relay name", f"`{item.relay_name}`" if item.relay_name else "none"),
        ("Also written", ", ".join(f"`{alias}`" for alias in item.aliases)),
        ("In TVM", f"`{item.see}`" if item.see else ""),
    )


def rule_in_words(docstring: str) -> tuple[str, str]:
    """Split the docstring of a type rule into what it infers and what it refuses."""
    rule, _, raises = docstring.partition("Raises:")
    words = rule.strip().removeprefix("Infer ")
    return words[:1].upper() + words[1:], raises.strip().removeprefix("OpTypeError:").strip()


def packed_sheet(item: PackedFunction, sample: tuple[str, str] | None) -> Sheet:
    """Return the sheet of a packed function; `sample` is path and text of a program that calls it."""
    path, text = sample or ("", "")
    writes = ", ".join(f"`{param.name}`" for param in item.params if param.is_written)
    rule = "computed from the types and values of the arguments" if item.has_type_rule else "what the call declares"
    return Sheet(
        PACKED + item.name,
        item.name,
        item.summary,
        plain_code(f"{item.schema}\n\n{item.call}", "schema", "tvmscript"),
        ("pure" if item.is_pure else "writes", "NumPy on the host"),
        tuple(map(_packed_row, item.params)),
        _facts(
            ("Gives", ", ".join(f"`{result}`" for result in item.results) or "nothing"),
            ("Writes", writes or "nothing"),
            ("Type rule", f"The type of the result is {rule}."),
            ("Scalars", "A packed function gets copies of the scalars, and the tensors themselves."),
            ("See", f"`{item.see}`" if item.see else ""),
        ),
        plain_code(text, path.rsplit("/", 1)[-1], "tvmscript") if text else None,
        path,
    )


def _packed_row(param: PackedParam) -> SchemaRow:
    notes = (*param.limits, "by name only" * param.is_keyword, "written" * param.is_written)
    return SchemaRow(param.name, param.type, param.default, tuple(filter(None, notes)))


def _facts(*rows: tuple[str, str]) -> tuple[FactRow, ...]:
    return tuple(FactRow(label, text) for label, text in rows if text)


def shown_results(value: Any) -> tuple[Shown, ...]:
    """Present the result of a run, the fields of a tuple one by one."""
    if not isinstance(value, tuple) or isinstance(value, ShapeValue):
        return (shown("result", value),)
    fields = cast("tuple[Any, ...]", value)[:_FIELD_LIMIT]
    return tuple(shown(f"result.{number}", field) for number, field in enumerate(fields))


def shown(name: str, value: Any) -> Shown:
    """Present a value under a name."""
    match kind_of(value):
        case "tensor" | "tensor0" as kind:
            array: np.ndarray[Any, Any] = value
            return Shown(name, kind, f"{shape_text(array.shape)} {dtype_text(str(array.dtype))}", show(value))
        case "prim":
            return Shown(name, "prim", dtype_text(dtype_name(value)), show(value))
        case "string" | "shape" | "tuple" | "closure" | "adt" | "dtype" | "void" | "unwritten" as kind:
            return Shown(name, kind, "", show(value))
        case _:
            return Shown(name, "object", "", show(value))
