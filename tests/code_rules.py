"""Rules about the source tree, each a function from a parsed file to the places that break it."""

import ast
import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

REPOSITORY = Path(__file__).resolve().parent.parent

# A module may import what stands before it here, and its own layer.
LAYERS = (
    "late",
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
    "simt",
    "vm",
    "inside",
    "present",
    "engine",
    "lessons",
    "fleet",
    "cli",
)

# 400 lines as a rule; up to this where one subject is told better whole than in two files that need each other.
LINE_LIMIT = 600
# Besides `__init__`.
FOLDER_LIMIT = 15
FUNCTION_LINE_LIMIT = 50

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
CACHES = frozenset(("cache", "lru_cache"))
WRITING_METHODS = frozenset(
    ("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update")
)
FORBIDDEN_CALLS = frozenset(("eval", "exec", "__import__", "import_module"))
FORBIDDEN_MODULES = frozenset(("pickle", "marshal", "shelve", "dill", "cloudpickle"))

_PURE = "a pure function of immutable values; what it keeps is bounded"
_FACTS = "facts of the latest prim funcs and modules, which nobody changes; bounded"
_INSTALLED = "it is read once from what is installed"
_LOOKED_AT = "the folder is looked at once a second, and read again when a file was written"
_ONE = "there is one in a process"

# file -> (name that is allowed there, reason)
ALLOWED: MappingProxyType[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "relax_core/analysis/tir_memory.py": (
            ("memory_of", _FACTS),
            ("written_buffers", _FACTS),
        ),
        "relax_core/engine/process/forked.py": (("forked_workers", _ONE), ("forked_for_few", _ONE)),
        "relax_core/engine/documents/glossary.py": (("terms", _INSTALLED),),
        "relax_core/engine/documents/guides.py": (("guides", _INSTALLED),),
        "relax_core/engine/documents/meanings.py": (("_index", _INSTALLED),),
        "relax_core/engine/documents/pass_examples.py": (("examples", _INSTALLED),),
        "relax_core/engine/documents/paragraphs.py": (("mendings", _INSTALLED), ("_samples_of_codes", _INSTALLED)),
        "relax_core/engine/samples.py": (
            ("_known", _LOOKED_AT),
            ("_stamps", _LOOKED_AT),
            ("_samples", _LOOKED_AT),
            ("_tables", _LOOKED_AT),
        ),
        "relax_core/fleet/versions.py": (("tool_version", _INSTALLED),),
        "relax_core/fleet/warm.py": (("warm_clients", _ONE),),
        "relax_core/frontend/relay/lexer/numbers.py": (("read_number", _PURE),),
        "relax_core/frontend/relay/prelude.py": (
            ("prelude", _INSTALLED),
            ("tensor_array", _PURE),
            ("ranked_tensor_array", _PURE),
        ),
        "relax_core/frontend/relay/types.py": (("dtype_of_name", _PURE),),
        "relax_core/ir/equality.py": (("_fields", _PURE),),
        "relax_core/jit/calls/builtin.py": (("_shared_program", _ONE),),
        "relax_core/jit/calls/builtin_layout.py": (("symbols", _ONE),),
        "relax_core/ir/node.py": (("nodes_in", _FACTS),),
        "relax_core/pattern/matching/search.py": (("_values_in", _FACTS),),
        "relax_core/pattern/partition/dataflow.py": (("dataflow_of", _FACTS),),
        "relax_core/jit/calls/memory.py": (("keep_freed_memory", "it sets up the allocator of the process, once"),),
        "relax_core/jit/calls/threads.py": (("_threads", _ONE),),
        "relax_core/jit/compilation/image.py": (
            ("address_in_process", _PURE),
            ("_library", _ONE),
        ),
        "relax_core/jit/compilation/specialisation.py": (
            ("_plain", _FACTS),
            ("lowering_version", _INSTALLED),
        ),
        "relax_core/jit/kernel.py": (("_words_types", _PURE),),
        "relax_core/jit/lowering/known/symbols.py": (("shape_symbols", _FACTS),),
        "relax_core/lessons/library.py": (("_lessons", _LOOKED_AT),),
        "relax_core/passes/properties.py": (("_nodes", _FACTS),),
        "relax_core/present/code.py": (
            ("tokenize", _PURE),
            ("_cut_line_once", _PURE),
            ("_syntax_of_kind", _PURE),
        ),
        "relax_core/present/editing/vocabulary.py": (("vocabulary", _PURE),),
        "relax_core/present/grammar.py": (("_tokenizer", _PURE),),
        "relax_core/present/running/run.py": (
            ("_instructions", _FACTS),
            ("_function_infos", _FACTS),
        ),
        "relax_core/present/drawings/svg.py": (("layout", _PURE),),
        "relax_core/printer/literals.py": (("_name", _PURE),),
        "relax_core/printer/naming.py": (("legal", _PURE),),
        "relax_core/printer/relax_expr.py": (
            ("call_layout", _PURE),
            ("operator_text", _PURE),
        ),
        "relax_core/vm/condition.py": (("_places", _PURE),),
        "relax_core/vm/conditions/dimensions.py": (("dimension_places", _PURE),),
        "relax_core/vm/decode.py": (("_decoded", _FACTS),),
        "relax_core/vm/recording/lines.py": (("of", _FACTS),),
        "relax_core/vm/builtin/storage.py": (
            ("_size_bytes", _PURE),
            ("storable", _PURE),
            ("_checked_dtype", _PURE),
        ),
        "relax_core/vm/external/torch_operators.py": (
            ("_operator", _INSTALLED),
            ("_torch", _INSTALLED),
        ),
        "relax_core/vm/objects/values.py": (("item_bytes", _PURE),),
        "views/state/address.py": (("_packed", _PURE),),
    }
)


@dataclass(frozen=True)
class SourceFile:
    """A Python file of the tree: its path from the root, with `/`, and its text, which is parsed once."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        gc.disable()
        try:
            return ast.parse(self.text, self.path)
        finally:
            # It stays to the end, as all others do: the collector of garbage would look at them again and again.
            gc.freeze()
            gc.enable()

    @cached_property
    def imports(self) -> tuple[tuple[int, str], ...]:
        """`(line, module)` of every import, `from a import b` as `a.b`, relative ones resolved."""
        return tuple(_imported_modules(self))

    @property
    def layer(self) -> str | None:
        """The room of `relax_core` that the file stands in; None for `__init__` and `__main__` at its top."""
        name = self.path.split("/")[1].removesuffix(".py")
        return None if name in ("__init__", "__main__") else name

    def allows(self, name: str) -> bool:
        return any(name == allowed for allowed, _ in ALLOWED.get(self.path, ()))


def _imported_modules(file: SourceFile) -> Iterator[tuple[int, str]]:
    package = Path(file.path).parent.parts
    for node in ast.walk(file.tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                outer = package[: len(package) - level + 1] if level else ()
                base = ".".join((*outer, *([module] if module else [])))
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case _:
                pass


def layer_violations(file: SourceFile) -> Iterator[str]:
    """Name the imports of a file of `relax_core` that point down the list of layers, or out to the pages."""
    above = _importable(file)
    for line, module in file.imports:
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


def folder_violations(paths: Iterable[str]) -> Iterator[str]:
    """Name the folders that hold too many modules to be taken in at a glance."""
    names = (Path(path) for path in paths)
    counts = Counter(path.parent.as_posix() for path in names if path.name != "__init__.py")
    for folder, count in sorted(counts.items()):
        if count > FOLDER_LIMIT:
            yield f"{folder}: {count} modules, at most {FOLDER_LIMIT}"


def import_graph(files: Iterable[SourceFile]) -> dict[str, dict[str, int]]:
    """Map each file to the files of the same tree that it imports, with the line of the first import.

    Every import counts, those under `if TYPE_CHECKING` and those inside of functions too; that a module runs the
    `__init__` of the packages around it does not.
    """
    listed = tuple(files)
    path_of = {_module_name(file.path): file.path for file in listed}
    graph: dict[str, dict[str, int]] = {}
    for file in listed:
        found = graph.setdefault(file.path, {})
        for line, name in file.imports:
            target = path_of.get(name) or path_of.get(name.rpartition(".")[0])
            if target is not None and target != file.path:
                found.setdefault(target, line)
    return graph


def _module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def cycle_violations(files: Iterable[SourceFile]) -> Iterator[str]:
    """Name the imports that lead from a file back to it."""
    graph = import_graph(files)
    reached = {path: _reached(graph, path) for path in graph}
    for path, targets in graph.items():
        for target, line in targets.items():
            if path in reached[target]:
                yield f"{path}:{line}: {target} imports {path}, directly or through others"


def _reached(graph: dict[str, dict[str, int]], start: str) -> set[str]:
    """Return the files that a file imports, directly or through others; itself only if it stands in a cycle."""
    found: set[str] = set()
    stack = [*graph[start]]
    while stack:
        path = stack.pop()
        if path not in found:
            found.add(path)
            stack += graph[path]
    return found


def streamlit_violations(file: SourceFile) -> Iterator[str]:
    """Name the imports of Streamlit outside the pages."""
    if file.path == "app.py" or file.path.startswith(("views/", "tests/")):
        return
    for line, module in file.imports:
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
    for line, module in file.imports:
        name = module.split(".")[0]
        if name in FORBIDDEN_MODULES and not file.allows(name):
            yield f"{file.path}:{line}: {name} is not used"
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            name = _called_name(node.func)
            if name in FORBIDDEN_CALLS and not file.allows(name):
                yield f"{file.path}:{node.lineno}: {name}() is not used"


def state_violations(file: SourceFile) -> Iterator[str]:
    """Name what a module, and not a function or an object, holds and changes: mutable values, caches, `global`."""
    names: set[str] = set()
    for node in _module_level(file.tree.body):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case _:
                continue
        names.update(target.id for target in targets if isinstance(target, ast.Name))
        name = ", ".join(ast.unparse(target) for target in targets)
        if name != "__all__" and _is_mutable(value) and not file.allows(name):
            yield f"{file.path}:{node.lineno}: {name} is mutable; use a tuple, frozenset or MappingProxyType"
    for node in _defined(file.tree.body):
        if any(_is_cache(item) for item in node.decorator_list) and not file.allows(node.name):
            yield f"{file.path}:{node.lineno}: {node.name} keeps a cache for as long as the process lives"
    for node in ast.walk(file.tree):
        match node:
            case ast.Global():
                yield f"{file.path}:{node.lineno}: global {', '.join(node.names)}"
            case ast.Subscript() | ast.Call():
                if (name := _written_name(node)) in names and not file.allows(name):
                    yield f"{file.path}:{node.lineno}: {name} of the module is written"
            case _:
                pass


def _defined(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """List the functions of a module and the methods of its classes; those inside of functions end with a call."""
    for node in _module_level(body):
        if isinstance(node, ast.ClassDef):
            yield from _defined(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _is_cache(decorator: ast.expr) -> bool:
    return _called_name(decorator.func if isinstance(decorator, ast.Call) else decorator) in CACHES


def _written_name(node: ast.AST) -> str:
    """Return the name whose value a node changes in place, such as `X` in `X[key] = value` and `X.append(value)`."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in WRITING_METHODS:
            return name
        case _:
            return ""


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
