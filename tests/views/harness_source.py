"""Handmade view models of the Source and Passes pages, for the tests of the components."""

import re

from relax_core.present.models import (
    Code,
    CodeLine,
    Diff,
    DiffRow,
    DiffSide,
    Elsewhere,
    Fold,
    Graph,
    GraphEdge,
    GraphNode,
    Inspector,
    InspectorRow,
    LegendEntry,
    Mark,
    Mend,
    NameFact,
    NodeRange,
    Part,
    Pipeline,
    Problem,
    Remark,
    Rewrite,
    Section,
    Stage,
    StageDetail,
    Syntax,
    Token,
)

HOSTILE = "<script>window.hacked=1</script>\"onload='window.hacked=1' </style><img src=x onerror=window.hacked=1>"

PROGRAM = """import tvm.script
from tvm.script import relax as R, tir as T

@tvm.script.ir_module
class MyIRModule:
    @T.prim_func
    def tir_matmul(x: T.handle, y: T.handle, z: T.handle) -> None:
        m = T.var("int32")
        n = T.var("int32")
        k = T.var("int32")
        A = T.match_buffer(x, (m, n))
        B = T.match_buffer(y, (n, k))
        C = T.match_buffer(z, (m, k))

        for (i0, j0, k0) in T.grid(m, n, k):
            with T.block():
                i, j, k = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    C[i, j] = 0.0
                C[i, j] += A[i, k] * B[j, k]

    @R.function
    def relax_func(x: R.Tensor[(m, n), "float32"], y: R.Tensor[(n, k), "float32"]):
        with R.dataflow():
            gv0 = R.call_tir(tir_matmul, (x, y), (m, k), dtype="float32")
            R.outputs(gv0)

        R.call_packed("custom_print", gv0)
        gv1 = R.call_packed("custom_add", gv0, gv0)
        gv2 = R.call_dps_packed("custom_tile", (gv1), (m, k * 2), dtype="float32")
        return gv2
"""

_WORDS: tuple[tuple[Syntax, str], ...] = (
    ("synComment", r"#.*"),
    ("synString", r'"[^"]*"'),
    ("synDecor", r"@\w+"),
    ("synKeyword", r"\b(?:import|from|as|class|def|for|in|with|return|None|call|ret)\b"),
    ("synType", r"\b(?:[RT]|relax|tvm)\b(?=\.)|%\w+"),
    ("synNumber", r"\b\d[\d.]*\b"),
)
_PATTERN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _WORDS))


def tokens(line: str) -> tuple[Token, ...]:
    out: list[Token] = []
    at = 0
    for match in _PATTERN.finditer(line):
        out.append(Token(line[at : match.start()]))
        out.append(Token(match[0], next(name for name, _ in _WORDS if match[name] is not None)))
        at = match.end()
    return tuple(token for token in (*out, Token(line[at:])) if token.text)


def lines(text: str, dim: tuple[int, ...] = ()) -> tuple[CodeLine, ...]:
    return tuple(CodeLine(tokens(line), i, i in dim) for i, line in enumerate(text.split("\n"), 1))


def _found(line: int, text: str, severity: str, message: str) -> Problem:
    column = PROGRAM.split("\n")[line - 1].index(text) + 1
    return Problem(
        "warning" if severity == "warning" else "note",
        "JT001",
        message,
        "Make `n` and `k` equal, or change the index.",
        line,
        column,
        line,
        column + len(text),
        "The range of an index is proven from the shapes where possible; elsewhere the access is checked.",
        related=(Elsewhere("`C` is declared here", 11, 5),) if severity == "warning" else (),
    )


PROBLEMS = (
    _found(19, "C[i, j]", "warning", "Write `C[i, j]` is in range only if `n ≤ k`. It is checked when it runs."),
    _found(20, "A[i, k]", "warning", "Read `A[i, k]` is in range only if `k ≤ n`. It is checked when it runs."),
    _found(1, "import", "note", "Lines 1 and 2 are skipped: text around the module is never run."),
)
NAMES = (
    NameFact("relax_func", "function", "", 23, 9, 1, 32),
    NameFact("x", "variable", "(m, n) f32", 23, 20, 23, 32),
    NameFact("gv0", "variable", "(m, k) f32", 25, 13, 23, 32),
)
NODE_LINES = {"n0": 23, "n1": 25, "n2": 28, "n3": 29, "n4": 30, "n5": 31}


def source_code(text: str) -> Code:
    """The program with all its marks, or any other text without them."""
    if text != PROGRAM:
        mend = Mend("mended", "Replace with mended", 1, 1, 1, 5)
        problem = Problem(
            "error", "PA001", f"This text is not the program: `{HOSTILE}`", "Undo.", 1, 1, 1, 5, mend=mend
        )
        return Code(text, lines(text), (), (problem,), name="my_ir_module.py")
    ranges = tuple(
        NodeRange(node, line, 9, line, 1 + len(PROGRAM.split("\n")[line - 1])) for node, line in NODE_LINES.items()
    )
    inner = NodeRange("n6", 25, 42, 25, 48)
    return Code(text, lines(text, dim=(1, 2)), (*ranges, inner), PROBLEMS, name="my_ir_module.py", names=NAMES)


def _box(id_: str, x: int, y: int, texts: tuple[str, str], look: str = "node both") -> str:
    title, subtitle = (text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for text in texts)
    return (
        f'<g class="{look}" id="{id_}"><rect fill="#ffffff" stroke="#bcc5cf" x="{x}" y="{y}" width="112" height="32"'
        f' rx="4"/><text x="{x + 8}" y="{y + 13}" font-size="10" font-weight="bold" fill="#10161c">{title}</text>'
        f'<text x="{x + 8}" y="{y + 26}" font-size="8" fill="#5f6a76">{subtitle}</text></g>'
    )


def _edge(x1: int, y1: int, x2: int, y2: int, look: str = "edge both") -> str:
    return f'<g class="{look}"><path fill="none" stroke="#45505c" stroke-width="1.1" d="M{x1},{y1}L{x2},{y2}"/></g>'


ATTACKS = (
    "<script>window.hacked=1</script><foreignObject><img xmlns='http://www.w3.org/1999/xhtml' src='x'"
    " onerror='window.hacked=1'/></foreignObject><rect onclick='window.hacked=1' width='3' height='3'"
    " style='background:url(https://example.invalid/x)'/><a href='javascript:window.hacked=1'><text>link</text></a>"
    "<use href='data:image/svg+xml,x'/><image href='https://example.invalid/y'/><style>*{fill:red}</style>"
    "<animate attributeName='x' onbegin='window.hacked=1'/>"
)


def graph(*, is_compare: bool = False) -> Graph:
    sides = ("both", "before", "after") if is_compare else ("both", "both", "both")
    boxes = (
        _box("g0", 20, 10, ("x", "(m, n) f32"))
        + _box("g1", 80, 80, ("tir_matmul", "gv0   (m, k) f32"))
        + _box("g2", 0, 150, ('"custom_print"', "void"), f"node {sides[1]}")
        + _box("g3", 160, 150, ("custom_add", HOSTILE[:20]), f"node {sides[2]}")
        + _edge(76, 42, 130, 80)
        + _edge(130, 112, 60, 150, f"edge {sides[1]}")
        + _edge(140, 112, 210, 150, f"edge {sides[2]}")
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 290 192">{boxes}{ATTACKS}</svg>'
    nodes = (
        GraphNode("g0", "x", "(m, n) f32", "n0", line=23, function="relax_func"),
        GraphNode("g1", "tir_matmul", "gv0 (m, k) f32", "n1", line=25, function="relax_func"),
        GraphNode("g2", '"custom_print"', "void", "n2", line=28, function="relax_func", side=sides[1]),
        GraphNode("g3", HOSTILE, "Object", "n3", line=29, function="relax_func", side=sides[2]),
    )
    edges = (GraphEdge("g0", "g1"), GraphEdge("g1", "g2"), GraphEdge("g1", "g3"))
    plain = (LegendEntry("cat0", "cpu(0)"), LegendEntry("line", "value"), LegendEntry("dash", "order"))
    compare = (LegendEntry("added", "added 3"), LegendEntry("removed", "removed 1"), LegendEntry("moved", "moved 1"))
    return Graph(
        svg,
        nodes,
        edges,
        compare if is_compare else plain,
        "@relax_func",
        len(nodes),
        is_compare=is_compare,
        dot="digraph {}",
    )


def node_inspector(node: str) -> Inspector:
    if not node:
        return Inspector("")
    first = (
        InspectorRow("Type", (Part('R.Tensor[(m, k), "float32"]', "code"),)),
        InspectorRow("Device", (Part("cpu(0)", category="cat0"), Part(" by default", "muted"))),
        InspectorRow("Defined", (Part("line 25", line=25), Part(", in a dataflow block"))),
        InspectorRow("Name", (Part(HOSTILE, "code"),)),
    )
    used = (InspectorRow("", (Part("custom_print", "code", node="n2"),), "line 28"),)
    life = (
        InspectorRow("Source", detail="line 25"),
        InspectorRow("Normalize", detail="unchanged", mark="unchanged"),
        InspectorRow("CallTIRRewrite", detail="alloc_tensor, then a DPS call", mark="changed"),
    )
    text = (InspectorRow("", (Part("R", syntax="synType"), Part(".call_tir(tir_matmul, (x, y), (m, k))"))),)
    return Inspector(
        node,
        "tensor",
        (),
        (
            Section("", "pairs", first),
            Section("Used by", "table", used),
            Section("Life of this node", "life", life),
            Section("Text", "code", text),
        ),
    )


PIPELINE = Pipeline(
    (
        Stage(0, "Source", False, seconds=-1),
        Stage(1, "Normalize", False, seconds=0.0004),
        Stage(2, "LambdaLift", True, 1, 0, seconds=0.0006, rewrite_count=2, remark_count=1),
        Stage(3, "CanonicalizeBindings", False, seconds=0.0003),
        Stage(4, "CallTIRRewrite", False, seconds=0.0002),
        Stage(5, "VMShapeLower", True, 3, 0, seconds=0.0009),
        Stage(6, "AttachGlobalSymbol", True, change="attrs", seconds=0.0001),
        Stage(7, "Bytecode", False, seconds=0.0005),
    ),
    0.0039,
)
DETAIL = StageDetail(
    "LambdaLift",
    "1 function lifted, 1 value captured",
    (
        Rewrite(1, "def closure", "@lifted_func_0", "lift", "n1", line=5),
        Rewrite(2, "closure", f"make_closure {HOSTILE}", "bind"),
    ),
    (Remark(1, "applied", "`closure` reads `x` from `main`.", ("n1",), 5),),
    rewrite_count=2,
)

_BEFORE: tuple[tuple[Mark, str], ...] = (
    ("unchanged", "@tvm.script.ir_module"),
    ("changed", "class PrintClosure2:"),
    ("unchanged", "    @R.function"),
    ("changed", '    def main(x: Tensor((2, 3), "float32")):'),
    ("moved", "        @R.function"),
    ("removed", "        def closure():"),
    ("moved", "            return x"),
    ("changed", "        y = relax.print(closure)"),
    ("unchanged", "        return y"),
)
_AFTER: tuple[tuple[Mark, str], ...] = (
    ("unchanged", "@tvm.script.ir_module"),
    ("changed", "class Module:"),
    ("unchanged", "    @R.function"),
    ("changed", '    def main(x: Tensor((2, 3), "float32")) -> Tuple():'),
    ("added", "        closure: Object = relax.make_closure(lifted_func_0, (x,))"),
    ("changed", "        y: Tuple() = relax.print(closure)"),
    ("unchanged", "        return y"),
    ("moved", "    @R.function"),
    ("added", '    def lifted_func_0(x1: Tensor((2, 3), "float32")) -> Tensor(None, "float32", ndim = 2):'),
    ("moved", "        return x1"),
    ("added", f"        # {HOSTILE}"),
)


def _side(number: int, mark: Mark, line: str) -> DiffSide:
    arrow = line.find("->") if mark in ("changed", "added") else -1
    return DiffSide(number, mark, line, f"n{number}", ((arrow, arrow + 2),) if arrow >= 0 else ())


def pass_diff() -> Diff:
    before = [_side(i, mark, line) for i, (mark, line) in enumerate(_BEFORE, 1)]
    after = [_side(i, mark, line) for i, (mark, line) in enumerate(_AFTER, 1)]
    rows = [DiffRow(b, a) for b, a in zip([*before, None, None], after, strict=True)]
    same = [DiffRow(_side(i, "unchanged", f"x{i} = 1"), _side(i, "unchanged", f"x{i} = 1")) for i in range(20, 40)]
    return Diff("Before · Normalize", "After · LambdaLift", (*rows, *same), (Fold(len(rows) + 2, 16),), 3, 1, 4, 2)
