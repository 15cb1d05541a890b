"""Parts: functions that run one chunk of a loop, so that several threads can share it, and how they get arguments.

A part has the parameters of the kernel's body, then buffers on the body's stack, `own`, a record of its own where it
says why it stopped, and the number of its chunk. Its entry loads them from an array that the body fills.
"""

import re
from collections.abc import Sequence

from relax_core.jit.compilation.debug_lines import function_mark, moved_marks
from relax_core.jit.lowering.state import SITE_OFFSET, VALUES_OFFSET, State

# Words of a part's own record, as `threads.ll` has it.
OWN_WORDS = 64

_LOCAL = re.compile(r"%local\d+\b")
_CAPTURED = "%captured"


def entry_name(number: int) -> str:
    """Return the name of the entry of a part."""
    return f"@part{number}.entry"


def call_parts(state: State, number: int, word_count: int, chunk_count: int) -> None:
    """Emit the run of all chunks of a part; its record has `word_count` words behind the fuel."""
    code = state.code
    code.declare("declare i32 @run_chunks(ptr, ptr, ptr, i64, i64)")
    arguments = f"ptr {entry_name(number)}, ptr {_CAPTURED}, ptr %record, i64 {word_count}, i64 {chunk_count}"
    stopped, go_on = code.label("stopped"), code.label("ok")
    result = code.emit(f"call i32 @run_chunks({arguments})")
    code.branch(code.emit(f"icmp eq i32 {result}, 0"), go_on, stopped, expects_true=True)
    code.cold(stopped, [f"ret i32 {result}"])
    code.start(go_on)


def enclose_parts(state: State, params: Sequence[str], unpacking: Sequence[str]) -> list[str]:
    """Return the parts as functions, and let the body fill the array for them.

    `params` are the parameters of the body, `unpacking` are the loads of these from an array of words.
    """
    if not state.emitted.parts:
        return []
    found = dict.fromkeys(name for text in state.emitted.parts for name in _LOCAL.findall(text))
    local = [f"ptr noalias {name}" for name in found]
    taken = (*params, *local)
    loads = list(unpacking)
    state.code.entry.append(f"{_CAPTURED} = alloca [{len(taken)} x i64], align 8")
    for position, param in enumerate(taken):
        llvm, name = _type_and_name(param)
        state.code.entry.append(f"{name}.captured = getelementptr i64, ptr {_CAPTURED}, i64 {position}")
        state.code.entry.append(f"store {llvm} {name}, ptr {name}.captured, align 8")
        if position >= len(params):
            loads.append(f"  {name}.at = getelementptr i64, ptr %slots, i64 {position}")
            loads.append(f"  {name} = load ptr, ptr {name}.at, align 8")
    return [line for number in range(len(state.emitted.parts)) for line in _part(state, number, taken, loads)]


def _part(state: State, number: int, taken: Sequence[str], loads: Sequence[str]) -> list[str]:
    params = ", ".join((*taken, "ptr align 8 %record", "ptr noalias align 8 %own", "i64 %chunk"))
    passed = ", ".join(" ".join(_type_and_name(param)) for param in (*taken, "ptr %record", "ptr %own", "i64 %chunk"))
    mark = function_mark(number + 1) if state.code.has_origins else ""
    head, _, rest = state.emitted.parts[number].partition("\n")
    return [
        f'define internal i32 @part{number}({params}) noinline nounwind "probe-stack"="inline-asm"{mark} {{',
        head,
        f"  %site = getelementptr i8, ptr %own, i64 {SITE_OFFSET}",
        f"  %values = getelementptr i8, ptr %own, i64 {VALUES_OFFSET}",
        moved_marks(rest, number + 1),
        "}",
        f"define internal i32 {entry_name(number)}(ptr %slots, ptr %record, ptr %own, i64 %chunk) nounwind {{",
        *loads,
        f"  %code = call i32 @part{number}({passed})",
        "  ret i32 %code",
        "}",
    ]


def _type_and_name(param: str) -> tuple[str, str]:
    words = param.split()
    return words[0], words[-1]
