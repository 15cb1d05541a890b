"""The Source page of a program."""

from relax_core.check.infer import infer
from relax_core.diagnostics import Diagnostic, RunError, plural
from relax_core.engine.inputs import argument_types, symbol_sizes
from relax_core.engine.programs.checking import diagnostics_of
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.spelling import relay_version
from relax_core.frontend.layout import restore_layout
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Binding, Call
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.present.code import source_code
from relax_core.present.editing.names import names_of
from relax_core.present.models import SourceView, Status
from relax_core.present.problems import problems_of
from relax_core.present.words import type_text


def source_view(opened: OpenProgram) -> SourceView:
    """Present the text, its problems and the functions of the module, also of a text with errors."""
    diagnostics = diagnostics_of(opened.source.parsed)
    modules = opened.source.parsed.modules
    name = opened.source.program.module
    module = next((item for item in modules if not name or item.name == name), modules[0] if modules else None)
    has_index = module is not None and module is next((item for item in modules if not name or item.name == name), None)
    source = opened.source.parsed.source
    names = names_of(source, opened.source.module, infer(opened.source.module).types) if has_index else ()
    index = opened.compilation.index(0) if has_index else None
    code = source_code(source, index, problems_of(diagnostics), names)
    errors = _count(diagnostics, "error")
    is_relay = code.language == "relay"
    return SourceView(
        code,
        tuple(item.name for item in modules),
        module.name if module is not None else "",
        module.names if module is not None else (),
        opened.source.entries() if has_index else (),
        _sizes(opened) if has_index else (),
        _signature(opened) if has_index else "",
        "" if module is None else _dialect(module, opened),
        _summary(module) if module is not None else "",
        errors > 0 and not is_relay and bool(restore_layout(opened.source.program.text).changes),
        Status(
            errors == 0 and module is not None,
            errors,
            _count(diagnostics, "warning"),
            module_hash=opened.source.hash,
        ),
    )


def _sizes(opened: OpenProgram) -> tuple[tuple[str, int], ...]:
    try:
        _, function = opened.source.entry()
    except RunError:
        # Nothing can be run: the Run page says why.
        return ()
    sizes = symbol_sizes(function, dict(opened.source.program.sizes))
    return tuple({var.name: size for var, size in sizes.items()}.items())


def _signature(opened: OpenProgram) -> str:
    try:
        _, function = opened.source.entry()
    except RunError:
        return ""
    params = (f"{param.name}: {type_text(type_)}" for param, type_ in argument_types(function).items())
    return f"({', '.join(params)})"


def _count(diagnostics: tuple[Diagnostic, ...], severity: str) -> int:
    return sum(item.severity == severity for item in diagnostics)


def _dialect(module: IRModule, opened: OpenProgram) -> str:
    if dialect_of(module) == "relay":
        return f"Relay {relay_version(opened.source.program.text)}"
    return f"Relax, {opened.source.spelling} spelling"


def _summary(module: IRModule) -> str:
    if dialect_of(module) == "relay":
        calls = sum(isinstance(node, Call) for node in preorder(module))
        return f"{plural(len(module.definitions), 'function')} · {plural(calls, 'call')}"
    bindings = sum(isinstance(node, Binding) for node in preorder(module))
    return f"{plural(len(module.definitions), 'function')} · {plural(bindings, 'binding')}"
