"""Builds the text of one LLVM function: registers, basic blocks, and the cold blocks that follow them."""

from collections.abc import Callable

from relax_core.ir.node import Node
from relax_core.jit.compilation.debug_lines import Origin, location_mark


class FunctionBuilder:
    """Appends instructions to the current basic block, as LLVM's IRBuilder does.

    `entry` holds what belongs at the start of the entry block, such as allocas; cold blocks are printed last, so that
    they do not come between the blocks that run. With `has_origins` each instruction carries a debug location whose
    line is a position in `origins`: the node that the instruction was lowered from, and whether it checks that node.
    `variants` are functions of vectors, which LLVM may call where it makes vectors of a loop.
    """

    def __init__(self, *, has_origins: bool = False) -> None:
        self.has_origins = has_origins
        self.origins: dict[Origin, int] = {}
        self._mark = ""
        self.entry: list[str] = []
        self.declarations: dict[str, str] = {}
        self.variants: dict[str, str] = {}
        self.block = "entry"
        self.lines: list[str] = []
        self._cold: list[str] = []
        self._count = 0
        self._loops: list[str] = []

    def emit(self, instruction: str, hint: str = "t") -> str:
        """Append an instruction and return its result: a fresh register, named after `hint`."""
        register = self._fresh(hint)
        self.lines.append(f"  %{register} = {instruction}{self._mark}")
        return f"%{register}"

    def do(self, instruction: str) -> None:
        """Append an instruction that has no result."""
        self.lines.append(f"  {instruction}{self._mark}")

    def reserve(self) -> int:
        """Reserve a line for an instruction that `fill` writes later, as for a phi with a later operand."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill(self, position: int, instruction: str) -> None:
        """Write the instruction for which `reserve` returned `position`."""
        self.lines[position] = f"  {instruction}{self._mark}"

    def set_location(self, node: Node, *, is_check: bool = False) -> str:
        """Give the following instructions the location of `node`, or of its check; return the location before."""
        before = self._mark
        if self.has_origins:
            self._mark = location_mark(self.origins.setdefault(Origin(node, is_check), len(self.origins)))
        return before

    def restore_location(self, before: str) -> str:
        """Go back to a location that `set_location` returned; return the one that was left."""
        left, self._mark = self._mark, before
        return left

    @property
    def size(self) -> int:
        """The number of registers and basic blocks so far, those of outlined functions included."""
        return self._count

    @property
    def mark(self) -> str:
        """The current location, for `restore_location`."""
        return self._mark

    def comment(self, text: str) -> None:
        """Append a comment, which is for readers of the text and is not compiled."""
        self.lines.append(f"  ; {' '.join(text.split())}")

    def label(self, hint: str) -> str:
        """Return a fresh name for a basic block."""
        return self._fresh(hint)

    def start(self, label: str) -> None:
        """Start the basic block `label`; the block before it must have ended with a terminator."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """End the block with an unconditional branch."""
        self.do(f"br label %{label}")

    def branch(self, condition: str, if_true: str, if_false: str, *, expects_true: bool = False) -> None:
        """End the block with a conditional branch, weighted as almost always taken with `expects_true`."""
        weights = ", !prof !0" if expects_true else ""
        self.do(f"br i1 {condition}, label %{if_true}, label %{if_false}{weights}")

    def goto(self, label: str) -> None:
        """Branch to `label` and start it: fall through."""
        self.jump(label)
        self.start(label)

    def cold(self, label: str, instructions: list[str]) -> None:
        """Add a complete basic block that is rarely entered, such as one that reports a failed check."""
        self._cold.append(f"{label}:")
        self._cold += [f"  {line}{self._mark}" for line in instructions]

    def declare(self, declaration: str) -> None:
        """Declare an external function; the first declaration of a name is kept."""
        symbol = declaration[declaration.index("@") : declaration.index("(")]
        self.declarations.setdefault(symbol, declaration)

    def scalar_loop(self) -> str:
        """Return the `!llvm.loop` metadata of a loop that LLVM must not vectorise."""
        return self._loop("!1")

    def written_loop(self) -> str:
        """Return the metadata of a loop that LLVM must neither vectorise nor unroll: its body is final."""
        return self._loop('!1, !{!"llvm.loop.unroll.disable"}')

    def kept_loop(self) -> str:
        """Return the metadata of a loop that LLVM must not unroll, so that it vectorises it as it stands."""
        return self._loop('!{!"llvm.loop.unroll.disable"}')

    def _loop(self, properties: str) -> str:
        self._loops.append(properties)
        return f"!{len(self._loops) + 1}"

    def metadata(self) -> list[str]:
        """Return the definitions of the metadata: `!0` are the weights of a likely branch, then those of loops."""
        likely = '!0 = !{!"branch_weights", i32 1048576, i32 1}'
        scalar = ['!1 = !{!"llvm.loop.vectorize.enable", i1 false}'] if self._loops else []
        loops = [f"!{number} = distinct !{{!{number}, {item}}}" for number, item in enumerate(self._loops, 2)]
        return [likely, *scalar, *loops]

    def outlined(self, build: Callable[[], None]) -> str:
        """Return the body of another function, which `build` emits; metadata and declarations are shared with this."""
        kept = self.entry, self.lines, self._cold, self.block
        self.entry, self.lines, self._cold, self.block = [], [], [], "entry"
        build()
        text = self.text()
        self.entry, self.lines, self._cold, self.block = kept
        return text

    def text(self) -> str:
        """Return the body of the function: entry, blocks in the order of their start, cold blocks."""
        return "\n".join(["entry:", *(f"  {line}" for line in self.entry), *self.lines, *self._cold])

    def _fresh(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"


def phi(scalar: str, *incoming: tuple[str, str]) -> str:
    """Return a phi instruction; `incoming` are pairs of a value and the block that it comes from."""
    return f"phi {scalar} " + ", ".join(f"[ {value}, %{block} ]" for value, block in incoming)
