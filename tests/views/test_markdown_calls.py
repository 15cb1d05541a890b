"""No call of a page reads text that is not its own as Markdown or HTML, or keeps anything in a cache of the server."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = (REPOSITORY / "app.py", *sorted((REPOSITORY / "views").rglob("*.py")))

# Whose first argument Streamlit reads as Markdown, or as HTML.
MARKDOWN = frozenset(
    (
        "badge",
        "button",
        "caption",
        "checkbox",
        "chat_message",
        "date_input",
        "dialog",
        "download_button",
        "error",
        "expander",
        "feedback",
        "file_uploader",
        "form_submit_button",
        "header",
        "info",
        "latex",
        "link_button",
        "markdown",
        "metric",
        "multiselect",
        "number_input",
        "page_link",
        "pills",
        "popover",
        "progress",
        "radio",
        "segmented_control",
        "select_slider",
        "selectbox",
        "slider",
        "spinner",
        "status",
        "subheader",
        "success",
        "tabs",
        "text_area",
        "text_input",
        "title",
        "toast",
        "toggle",
        "warning",
        "write",
        "write_stream",
        "html",
    )
)
KEYWORDS = frozenset(("help", "label", "body", "caption", "captions", "text", "title", "icon"))
# Whose options are read as Markdown as well.
OPTIONS = frozenset(("pills", "radio", "segmented_control"))
HELPERS = frozenset(
    (
        "authored",
        "literal",
        "prose",
        "bold",
        "sentence",
        "bullets",
        "badge",
        "table",
        "markup",
        "live_board",
        "joining_board",
    )
)
# What makes HTML of Markdown without the escaping that a helper does, and what visitors share.
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
FORBIDDEN = frozenset(("cache_data", "cache_resource", "experimental_singleton", "iframe", "components"))


class Scope:
    """A module or a function: what its names are bound to, and what holds it."""

    def __init__(self, node: ast.AST, outer: "Scope | None" = None) -> None:
        self.node = node
        self.outer = outer
        self.values: dict[str, list[ast.expr | None]] = {}
        for item in self.items():
            for name, value in _bound(item):
                self.values.setdefault(name, []).append(value)

    def items(self) -> Iterator[ast.AST]:
        """List the nodes that belong to this scope and to no function within it."""
        waiting: list[ast.AST] = [self.node]
        while waiting:
            node = waiting.pop()
            yield node
            if node is self.node or not isinstance(node, FUNCTIONS):
                waiting += ast.iter_child_nodes(node)

    def all(self) -> Iterator["Scope"]:
        """List this scope and those within it."""
        yield self
        for node in self.items():
            if isinstance(node, FUNCTIONS) and node is not self.node:
                yield from Scope(node, self).all()

    def known(self, name: str) -> list[ast.expr | None]:
        """Return the values that a name has here: None for one that comes from a caller, a loop or an import."""
        return self.values.get(name) or (self.outer.known(name) if self.outer else [])

    def is_own(self, value: ast.expr | None, depth: int = 0) -> bool:
        """Tell whether a text is written here, or made by a helper."""
        match value:
            case ast.Constant():
                return True
            case ast.Call(func=ast.Name(id=name)) if name in HELPERS:
                return True
            case ast.Call(func=ast.Name(id="MappingProxyType"), args=[ast.Dict(values=values)]):
                return all(self.is_own(item) for item in values)
            case ast.JoinedStr(values=values):
                return all(self.is_own(item) for item in values)
            case ast.FormattedValue(value=inner):
                return self.is_own(inner)
            case ast.IfExp(body=body, orelse=other):
                return self.is_own(body) and self.is_own(other)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.is_own(left) and self.is_own(right)
            case ast.BinOp(op=ast.Div()):
                # A path: a file of this repository.
                return True
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self.is_own(inner, depth)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return all(self.is_own(item) for item in items)
            case ast.ListComp(elt=ast.Call(func=ast.Name(id=name))) if name in HELPERS:
                return True
            case ast.ListComp(elt=ast.Name(), generators=[ast.comprehension(iter=ast.Name(id=name))]):
                return name.isupper()
            case ast.Name(id=name) if depth < 5:
                known = self.known(name)
                return bool(known) and all(self.is_own(item, depth + 1) for item in known)
            case _:
                return False


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            yield from (
                (name.id, value) for name, value in zip(names, values, strict=True) if isinstance(name, ast.Name)
            )
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.arg(arg=name):
            yield name, None
        case ast.For(target=target) | ast.comprehension(target=target) | ast.Assign(targets=[target]):
            yield from ((item.id, None) for item in ast.walk(target) if isinstance(item, ast.Name))
        case ast.ImportFrom(names=names):
            # A constant of another module is a text of this program.
            for alias in names:
                yield alias.asname or alias.name, ast.Constant("") if alias.name.isupper() else None
        case _:
            pass


def violations(text: str) -> Iterator[str]:
    """Name the calls that read a text as Markdown which is not known to be harmless."""
    for scope in Scope(ast.parse(text)).all():
        for node in scope.items():
            if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN and ast.unparse(node.value) == "st":
                yield f"{node.lineno}: st.{node.attr} is not used"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MARKDOWN:
                yield from _calls(scope, node, node.func.attr)


def _calls(scope: Scope, node: ast.Call, name: str) -> Iterator[str]:
    given = [*node.args[:1], *(item.value for item in node.keywords if item.arg in KEYWORDS)]
    given += [item for item in node.args[1:2] if name in OPTIONS]
    for value in given:
        if not scope.is_own(value):
            yield f"{node.lineno}: {name}({ast.unparse(value)}): write literal(...) or prose(...)"
    if any(item.arg in ("unsafe_allow_html", "unsafe_allow_javascript") for item in node.keywords):
        yield f"{node.lineno}: {name} allows HTML"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_a_page_gives_markdown_only_its_own_words(path: Path) -> None:
    assert tuple(violations(path.read_text(encoding="utf-8"))) == ()


@pytest.mark.parametrize(
    "text",
    [
        "st.markdown(problem.message)",
        "st.error(f'**{title}**')",
        "st.button('x', help=words)",
        "def f(text):\n    st.caption(text)",
        "for text in texts:\n    st.caption(text)",
        "label = name\nst.popover(label)",
        "box.markdown('\\n'.join(lines))",
        "st.html(f'<b>{name}</b>')",
        "st.segmented_control('x', names)",
        "st.markdown('x', unsafe_allow_html=True)",
        "@st.cache_resource(scope='session')\ndef f(): ...",
        "from x import name\nst.write(name)",
    ],
)
def test_a_text_that_is_not_its_own_is_seen(text: str) -> None:
    assert len(tuple(violations(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "st.markdown('**x**')",
        "st.error(sentence(title, message))",
        "label = literal(name)\nst.popover(label)",
        "st.html(f'<b>{markup(name)}</b>')",
        "HELP = 'x' 'y'\nst.button('x', help=HELP)",
        "st.badge('a' if x else literal(y))",
        "from x import MODES\nst.segmented_control('x', [mode for mode in MODES if mode])",
        "st.text(name)\nst.code(name)",
    ],
)
def test_harmless_texts_are_let_pass(text: str) -> None:
    assert tuple(violations(text)) == ()
