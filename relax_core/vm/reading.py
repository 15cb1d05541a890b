"""Instructions that look into tensors, in the mode that finds what nothing wrote: they are checked before they run."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from relax_core.vm.builtins import (
    null_value,
    read_if_cond,
    run_assert,
    run_print,
    tensor_to_shape,
    to_device,
    unbox_scalar,
)
from relax_core.vm.decode import BUILTIN, DecodedFunction
from relax_core.vm.stack import Step
from relax_core.vm.values import Array, Value
from relax_core.vm.written import WrittenBytes

_READERS: Final = MappingProxyType(
    {
        read_if_cond: "the condition of `if` reads",
        unbox_scalar: "`unbox_scalar` reads",
        tensor_to_shape: "`tensor_to_shape` reads",
        run_print: "`R.print` reads",
        run_assert: "`R.assert_op` reads",
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What checked instructions need: the flags of the run, and the instruction that runs."""

    written: Callable[[], WrittenBytes | None]
    pc: Callable[[], int]

    def checked(self, code: DecodedFunction) -> DecodedFunction:
        """Return decoded instructions that check what they read, and note whose life they end."""
        return DecodedFunction(tuple(map(self._checked, code.steps)), code.template)

    def _checked(self, step: Step) -> Step:
        what, target, fetch, dst = step
        if what != BUILTIN:
            return step
        if target is null_value and dst >= 0:
            return what, self._kill, lambda registers: (registers[dst],), dst
        if target is to_device:
            return what, self._copy, fetch, dst
        words = _READERS.get(target)
        return step if words is None else (what, self._read(target, words), fetch, dst)

    def _kill(self, context: Any, value: Value) -> None:
        written = self.written()
        if written is not None:
            written.kill(value)

    def _copy(self, context: Any, tensor: Array, *args: Any) -> Array:
        made, written = to_device(context, tensor, *args), self.written()
        if written is not None:
            written.copied(tensor, made, self.pc())
        return made

    def _read(self, target: Callable[..., Any], words: str) -> Callable[..., Any]:
        def read(context: Any, *args: Value) -> Any:
            written = self.written()
            if written is not None:
                written.require(args, words)
            return target(context, *args)

        return read
