"""The text of one LLVM function while it is written: registers, basic blocks, and cold blocks behind them."""

from collections.abc import Callable

from relax_core.ir.node import Node
from relax_core.jit.compilation.debug_lines import Origin, location_mark


class Code:
    """Collects instructions. A line that starts with `;` behind its indentation is a comment for readers.

    With `has_places` every instruction is marked with what it stems from; `places` are these origins, and the number
    of a mark is the position there.
    """

    def __init__(self, *, has_places: bool = False) -> None:
        self.has_places = has_places
        self.places: dict[Origin, int] = {}
        self._mark = ""
        self.entry: list[str] = []
        self.declarations: dict[str, str] = {}
        self.block = "entry"
        self.lines: list[str] = []
        self._cold: list[str] = []
        self._count = 0
        self._loops: list[str] = []

    def emit(self, instruction: str, hint: str = "t") -> str:
        """Append an instruction and return the register with its result."""
        register = self._fresh(hint)
        self.lines.append(f"  %{register} = {instruction}{self._mark}")
        return f"%{register}"

    def do(self, instruction: str) -> None:
        """Append an instruction without result."""
        self.lines.append(f"  {instruction}{self._mark}")

    def reserve(self) -> int:
        """Leave room for an instruction that `fill` writes, as for a phi whose operands come behind it."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill(self, position: int, instruction: str) -> None:
        """Write the instruction for which room was left at `position`."""
        self.lines[position] = f"  {instruction}{self._mark}"

    def stand_at(self, node: Node, *, is_check: bool = False) -> str:
        """Let what follows stem from `node`, or from its check; return what `stand_back` takes to end that."""
        before = self._mark
        if self.has_places:
            self._mark = location_mark(self.places.setdefault(Origin(node, is_check), len(self.places)))
        return before

    def stand_back(self, before: str) -> str:
        """Let what follows stem again from what it did before `stand_at`; return what takes that back."""
        left, self._mark = self._mark, before
        return left

    @property
    def size(self) -> int:
        """How many registers and basic blocks were made so far, in all functions."""
        return self._count

    @property
    def mark(self) -> str:
        """What `stand_back` takes to let something stem from what it does here."""
        return self._mark

    def comment(self, text: str) -> None:
        """Append a comment; it takes no part in what is compiled."""
        self.lines.append(f"  ; {' '.join(text.split())}")

    def label(self, hint: str) -> str:
        """Return the name of a basic block that is to be started."""
        return self._fresh(hint)

    def start(self, label: str) -> None:
        """Start the basic block `label`; what follows goes there."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        self.do(f"br label %{label}")

    def branch(self, condition: str, if_true: str, if_false: str, *, expects_true: bool = False) -> None:
        """End the block with a conditional jump."""
        weights = ", !prof !0" if expects_true else ""
        self.do(f"br i1 {condition}, label %{if_true}, label %{if_false}{weights}")

    def goto(self, label: str) -> None:
        """Jump to `label` and start it."""
        self.jump(label)
        self.start(label)

    def cold(self, label: str, instructions: list[str]) -> None:
        """Add a whole basic block that is rarely entered."""
        self._cold.append(f"{label}:")
        self._cold += [f"  {line}{self._mark}" for line in instructions]

    def declare(self, declaration: str) -> None:
        """Declare an external function; the first declaration of a name is kept."""
        symbol = declaration[declaration.index("@") : declaration.index("(")]
        self.declarations.setdefault(symbol, declaration)

    def scalar_loop(self) -> str:
        """Return the mark of a loop that is not to be vectorised."""
        return self._loop("!1")

    def written_loop(self) -> str:
        """Return the mark of a loop that is neither vectorised nor unrolled: its body is written as it is to be."""
        return self._loop('!1, !{!"llvm.loop.unroll.disable"}')

    def kept_loop(self) -> str:
        """Return the mark of a loop that is not unrolled, so that it is vectorised itself."""
        return self._loop('!{!"llvm.loop.unroll.disable"}')

    def _loop(self, properties: str) -> str:
        self._loops.append(properties)
        return f"!{len(self._loops) + 1}"

    def metadata(self) -> list[str]:
        """Return what the marks stand for: `!0` of a branch that is likely, and those of loops."""
        likely = '!0 = !{!"branch_weights", i32 1048576, i32 1}'
        scalar = ['!1 = !{!"llvm.loop.vectorize.enable", i1 false}'] if self._loops else []
        loops = [f"!{number} = distinct !{{!{number}, {item}}}" for number, item in enumerate(self._loops, 2)]
        return [likely, *scalar, *loops]

    def apart(self, build: Callable[[], None]) -> str:
        """Return the body of another function, which `build` writes; marks and declarations are shared."""
        kept = self.entry, self.lines, self._cold, self.block
        self.entry, self.lines, self._cold, self.block = [], [], [], "entry"
        build()
        text = self.text()
        self.entry, self.lines, self._cold, self.block = kept
        return text

    def text(self) -> str:
        """Return the body of the function."""
        return "\n".join(["entry:", *(f"  {line}" for line in self.entry), *self.lines, *self._cold])

    def _fresh(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"


def phi(scalar: str, *incoming: tuple[str, str]) -> str:
    """Return the instruction that takes a value by the block that control came from: pairs of value and block."""
    return f"phi {scalar} " + ", ".join(f"[ {value}, %{block} ]" for value, block in incoming)
