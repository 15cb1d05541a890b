"""Chains of blocks and schedules of them, drawn at random."""

from collections.abc import Iterator
from random import Random

import relax_core as rc
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.tir import Block, For, Stmt
from tests.passes.tir_programs import program

ROWS, COLUMNS = 4, 6
LOOPS = f"for i, j in T.grid({ROWS}, {COLUMNS}):"
AXES = 'vi, vj = T.axis.remap("SS", [i, j])'
FUSED = f"for f in range({ROWS * COLUMNS}):"
FUSED_AXES = f"vi = T.axis.spatial({ROWS}, f // {COLUMNS})\n        vj = T.axis.spatial({COLUMNS}, f % {COLUMNS})"
PLAIN = (
    "{x}[vi, vj] * T.float32(2) + T.float32(1)",
    "{x}[vi, vj] - {y}[vi, vj]",
    "{x}[vi, 5 - vj]",
    "T.if_then_else(vj >= 1, {x}[vi, vj - 1], T.float32(3)) + {x}[vi, vj]",
    "{x}[3 - vi, vj] + {y}[vi, vj * 5 % 6]",
    "T.max({x}[vi, T.min(vj + 1, 5)], {y}[vi, vj])",
)
TAGS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x")
MAPS = ("(j, i)", "(j // 2, i, j % 2)", "(i // 2, j, i % 2)", "(i * 6 + j,)", "(i, j // 4, j % 4)", "(i, i)")
REDUCED = (
    ("T.float32(0)", "{out} + {x}[vi, vk]"),
    ("T.float32(-3.4028234663852886e+38)", "T.max({out}, {x}[vi, vk] - {y}[vi, vj])"),
    ("T.float32(0)", "{out} + T.if_then_else(vk < 4, {x}[vk % 4, vj], T.float32(1))"),
)


def _stage(name: str, out: str, operands: tuple[str, str], kind: int, loops: int) -> str:
    """Return a block `name` in loops of its own that computes `out`; `kind` says what, `loops` how it is written."""
    x, y = operands
    if kind < len(PLAIN):
        head, axes = (LOOPS, AXES) if loops else (FUSED, FUSED_AXES)
        body = f"{out}[vi, vj] = {PLAIN[kind].format(x=x, y=y)}"
        return f'{head}\n    with T.sblock("{name}"):\n        {axes}\n        {body}\n'
    first, update = REDUCED[kind - len(PLAIN)]
    order = ("i, j, k", f"{ROWS}, {COLUMNS}, 6") if loops else ("k, i, j", f"6, {ROWS}, {COLUMNS}")
    place = f"{out}[vi, vj]"
    return (
        f'for {order[0]} in T.grid({order[1]}):\n    with T.sblock("{name}"):\n'
        f'        vi, vj, vk = T.axis.remap("SSR", [i, j, k])\n        with T.init():\n            {place} = {first}\n'
        f"        {place} = {update.format(out=place, x=x, y=y)}\n"
    )


def chain(random: Random) -> str:
    """Write `f`, a chain of two to four blocks, and `main`, which calls it.

    At most two blocks reduce: sums of small integers are exact in float32.
    """
    count = random.randint(2, 4)
    names = ["A", *(f"X{number}" for number in range(1, count)), "C"]
    text = "".join(f'{name} = T.alloc_buffer(({ROWS}, {COLUMNS}), "float32")\n' for name in names[1:-1])
    reductions = 0
    for number in range(1, count + 1):
        is_reduction = reductions < 2 and random.random() < 0.4
        first, last = (len(PLAIN), len(PLAIN) + len(REDUCED) - 1) if is_reduction else (0, len(PLAIN) - 1)
        reductions += is_reduction
        operands = (names[number - 1], random.choice(names[:number]))
        text += _stage(f"b{number}", names[number], operands, random.randint(first, last), random.randint(0, 3))
    return program(text, f"({ROWS}, {COLUMNS})", ROWS, COLUMNS)


def _nests(module: IRModule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the blocks of a module with the names of the loops around them."""
    for _, function in module.prim_funcs:
        stack: list[tuple[Node, tuple[str, ...]]] = [(function.body, ())]
        while stack:
            node, loops = stack.pop()
            if isinstance(node, Block) and node.name != "root":
                yield node.name, loops
            inside = (*loops, node.var.name) if isinstance(node, For) else loops
            stack += [(part, inside) for part in children(node) if isinstance(part, Stmt)]


def _step(random: Random, module: IRModule) -> str:
    """Make a primitive with options that name what the module has."""
    nests = sorted(_nests(module))
    block, loops = random.choice(nests)
    loop = random.choice(loops or ("i",))
    others = [name for found, names in nests for name in names if found != block] or ["i"]
    factor = random.randint(1, 5)
    start = random.randint(0, max(len(loops) - 2, 0))
    scope = random.choice(("local", "shared"))
    which = f"block='{block}'"
    return random.choice(
        (
            f"Split({which}, loop='{loop}', factors=[None, {factor}])",
            f"Split({which}, loop='{loop}', factors=[{factor}, None])",
            f"Fuse({which}, loops={list(loops[start : start + 2])})",
            f"Reorder({which}, loops={random.sample(loops, len(loops))})",
            f"{random.choice(('Parallel', 'Unroll', 'Vectorize'))}({which}, loop='{loop}')",
            f"Bind({which}, loop='{loop}', thread='{random.choice(TAGS)}')",
            f"DecomposeReduction({which}, loop='{loop}')",
            # The innermost loop is the one that most often reduces.
            f"RFactor({which}, loop='{(loops or ('i',))[-1]}', factor_axis={factor % 3})",
            f"ComputeInline({which})",
            f"ReverseComputeInline({which})",
            f"CacheRead({which}, read_buffer_index={factor % 2}, storage_scope='{scope}')",
            f"CacheWrite({which}, storage_scope='{scope}')",
            f"ComputeAt({which}, loop='{random.choice(others)}')",
            f"ComputeAt({which}, loop='{random.choice(others)}', preserve_unit_loops=True)",
            f"ReverseComputeAt({which}, loop='{random.choice(others)}')",
            f"ReverseComputeAt({which}, loop='{random.choice(others)}')",
            f"Blockize({which}, loop='{loop}')",
            f"Reindex({which}, buffer=('{random.choice(('read', 'write'))}', 0))",
            f"TransformLayout({which}, index_map='lambda i, j: {random.choice(MAPS)}')",
            f"SetScope({which}, storage_scope='{scope}')",
            f"StorageAlign({which}, axis=0, factor={factor}, offset=1)",
        )
    )


def walk(random: Random, module: IRModule, count: int) -> Iterator[tuple[str, IRModule]]:
    """Try some primitives one after the other, and yield each that is taken, with the module behind it."""
    for _ in range(count):
        step = _step(random, module)
        (stage,) = rc.run_pipeline(module, step)
        if stage.is_failed:
            assert {item.code for item in stage.diagnostics} <= {"PS018", "PS019"}, f"{step}: {stage.diagnostics}"
        elif stage.is_changed:
            module = stage.after
            yield step, module
