"""What the app has to know of the Run page."""

from views.manifest import Manifest, stop
from views.pages.run.state import RunState

MANIFEST = Manifest(
    state=RunState,
    keys=(
        (
            "Run",
            (
                ("`n` `i` `o`", "step over, in, out"),
                ("`b`", "step back"),
                ("`F8`", "continue"),
                ("`F10` `F11` `Shift+F11`", "over, in, out"),
                ("`Esc`", "whole run, then no register"),
                ("`F9` `Shift+F9`", "breakpoint, with a condition"),
                ("`[` `]`", "previous and next hit"),
                ("`.`", "run to the cursor"),
            ),
        ),
        (
            "Inside a kernel",
            (
                ("`i`", "in, from the step of the run that calls it"),
                ("`n` `b`", "next statement, back"),
                ("`]` `[`", "next iteration of the selected loop, the one before"),
                ("`.`", "run to the line that was clicked"),
                ("`o`", "out, back to the run"),
            ),
        ),
    ),
    question="What is in every register, at every step, forwards and backwards?",
    stops=(
        stop(
            "A recursion, step by step",
            "`fib` calls itself: step in and out, and back, with all frames on the right.",
            sample="relax/fib.py",
            time=9,
        ),
        stop(
            "Back over a write in place",
            "A packed function overwrites its argument: step back and the old value is there.",
            sample="relax/inplace_update.py",
            time=7,
        ),
        stop(
            "A sum, product by product",
            "Inside a matrix product: loops, phases, and how often each cell was touched.",
            sample="tir/matmul.py",
            time=10,
            inside=10,
            clock=9,
        ),
        stop(
            "Two warps and a race",
            "The threads of a block: who waits, who is ahead, and a tile that is filled again too early.",
            sample="gpu/race.py",
            time=0,
            inside=0,
            clock=8,
            heat="owner",
        ),
        stop(
            "An index out of range",
            "The run stops at the line, with the indices that it had.",
            sample="errors/jt_out_of_range.py",
            time=8,
        ),
    ),
)
