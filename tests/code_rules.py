"""Rules about the source tree, each a function from a parsed file to the places that break it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

REPOSITORY = Path(__file__).resolve().parent.parent

# A module may import what stands before it here, and its own layer.
LAYERS = (
    "source",
    "diagnostics",
    "codes",
    "ir",
    "ops",
    "frontend",
    "printer",
    "check",
    "analysis",
    "pattern",
    "passes",
    "bytecode",
    "jit",
    "vm",
    "present",
    "engine",
    "cli",
)

# 400 lines as a rule; up to this where one subject is told better whole than in two files that need each other.
LINE_LIMIT = 600
FUNCTION_LINE_LIMIT = 60

MUTABLE_CONSTRUCTORS = frozenset(
    (
        "list",
        "dict",
        "set",
        "bytearray",
        "defaultdict",
        "deque",
        "Counter",
        "OrderedDict",
        "WeakKeyDictionary",
        "WeakValueDictionary",
        "WeakSet",
    )
)
FORBIDDEN_CALLS = frozenset(("eval", "exec", "__import__", "import_module"))
FORBIDDEN_MODULES = frozenset(("pickle", "marshal", "shelve", "dill", "cloudpickle"))

# file -> (name that is allowed there, reason)
ALLOWED: MappingProxyType[str, tuple[tuple[str, str], ...]] = MappingProxyType({})


@dataclass(frozen=True)
class SourceFile:
    """A Python file of the tree: its path from the root, with `/`, and its text, which is parsed once."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def layer(self) -> str | None:
        """The room of `relax_core` that the file stands in; None for `__init__` and `__main__` at its top."""
        name = self.path.split("/")[1].removesuffix(".py")
        return None if name in ("__init__", "__main__") else name

    def allows(self, name: str) -> bool:
        return any(name == allowed for allowed, _ in ALLOWED.get(self.path, ()))


def imported_modules(file: SourceFile) -> Iterator[tuple[int, str]]:
    """List `(line, module)` of every import, `from a import b` as `a.b`, relative ones resolved."""
    package = Path(file.path).parent.parts
    for node in ast.walk(file.tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                outer = package[: len(package) - level + 1] if level else ()
                base = ".".join((*outer, *([module] if module else [])))
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)


def layer_violations(file: SourceFile) -> Iterator[str]:
    """Name the imports of a file of `relax_core` that point down the list of layers, or out to the pages."""
    above = _importable(file)
    for line, module in imported_modules(file):
        match module.split("."):
            case ["relax_core", name, *_] if name in LAYERS:
                if name not in above:
                    yield f"{file.path}:{line}: {file.layer or 'the package'} must not import {name}"
            case ["relax_core", *_]:
                if file.layer is not None:
                    yield f"{file.path}:{line}: import the module that defines it, not the public {module}"
            case ["views" | "app" | "streamlit", *_]:
                yield f"{file.path}:{line}: relax_core must not import {module}"
            case _:
                pass


def _importable(file: SourceFile) -> tuple[str, ...]:
    match file.path, file.layer:
        case "relax_core/__init__.py", _:
            return LAYERS[: LAYERS.index("cli")]
        case "relax_core/__main__.py", _:
            return LAYERS
        case _, str(layer) if layer in LAYERS:
            return LAYERS[: LAYERS.index(layer) + 1]
        case _:
            return ()


def room_violations(file: SourceFile) -> Iterator[str]:
    """Name a file of `relax_core` that stands in no layer."""
    if file.layer is not None and file.layer not in LAYERS:
        yield f"{file.path}: {file.layer} is not a layer; the layers are {', '.join(LAYERS)}"


def streamlit_violations(file: SourceFile) -> Iterator[str]:
    """Name the imports of Streamlit outside the pages."""
    if file.path == "app.py" or file.path.startswith(("views/", "tests/")):
        return
    for line, module in imported_modules(file):
        if module.split(".")[0] == "streamlit":
            yield f"{file.path}:{line}: only app.py and views/ import streamlit"


def length_violations(file: SourceFile) -> Iterator[str]:
    """Name a file that is too long."""
    count = len(file.text.splitlines())
    if count > LINE_LIMIT:
        yield f"{file.path}: {count} lines, at most {LINE_LIMIT}"


def function_violations(file: SourceFile) -> Iterator[str]:
    """Name the functions that do not fit a screen."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > FUNCTION_LINE_LIMIT:
                yield f"{file.path}:{node.lineno}: {node.name} has {count} lines, at most {FUNCTION_LINE_LIMIT}"


def execution_violations(file: SourceFile) -> Iterator[str]:
    """Name whatever could turn a user's text or a message into running Python."""
    for line, module in imported_modules(file):
        name = module.split(".")[0]
        if name in FORBIDDEN_MODULES and not file.allows(name):
            yield f"{file.path}:{line}: {name} is not used"
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            name = _called_name(node.func)
            if name in FORBIDDEN_CALLS and not file.allows(name):
                yield f"{file.path}:{node.lineno}: {name}() is not used"


def state_violations(file: SourceFile) -> Iterator[str]:
    """Name the mutable values that a module, and not a function or an object, holds."""
    for node in _module_level(file.tree.body):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case _:
                continue
        name = ", ".join(ast.unparse(target) for target in targets)
        if name != "__all__" and _is_mutable(value) and not file.allows(name):
            yield f"{file.path}:{node.lineno}: {name} is mutable; use a tuple, frozenset or MappingProxyType"
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Global):
            yield f"{file.path}:{node.lineno}: global {', '.join(node.names)}"


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """List the statements that run on import, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For):
            for field in ("body", "orelse", "finalbody"):
                yield from _module_level(getattr(node, field, []))


def _is_mutable(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=function):
            return _called_name(function) in MUTABLE_CONSTRUCTORS
        case _:
            return False


def _called_name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name
        case ast.Subscript(value=inner):
            return _called_name(inner)
        case _:
            return ""
