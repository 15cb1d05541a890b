"""A module of LLVM IR as text, and what the object that is made of it is known by."""

from dataclasses import dataclass
from hashlib import blake2b

from relax_core.jit.compilation.pipelines import Pipeline
from relax_core.jit.compilation.target import Target


@dataclass(frozen=True, slots=True)
class LLVMSource:
    """A module of LLVM IR. It is optimised by `pipeline`, and not at all if it is final.

    One with chunks is linked with what runs these.
    """

    text: str
    entry: str = "kernel"
    pipeline: Pipeline = "loops"
    is_final: bool = False
    has_chunks: bool = False

    def key(self, target: Target) -> str:
        """Return what all that its object depends on is known by; comments take no part in that."""
        # Structurally equal prim funcs lower to the same instructions, as these hold no names of the text.
        lines = (line for line in self.text.splitlines() if not line.lstrip().startswith(";"))
        head = f"{target.description}\n{self.pipeline} {self.is_final}\n"
        return blake2b((head + "\n".join(lines)).encode(), digest_size=20).hexdigest()

    def compile(self, target: Target) -> bytes:
        """Make an object of it."""
        if self.is_final:
            return target.compile_plainly(self.text)
        return target.compile(self.text, self.pipeline)
