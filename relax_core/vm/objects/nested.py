"""What nested values hold, as far as somebody looks at it."""

from collections.abc import Iterator

import numpy as np

from relax_core.vm.objects.values import AdtValue, RefValue, StateValue, Value, fields_of, root_of


def memories_near(value: Value, levels: int) -> Iterator[int]:
    """Yield the identities of the arrays that own the memory of tensors, and of references.

    Tuples, captures and what a state holds by now are followed so many levels deep.
    """
    level: tuple[Value, ...] = (value,)
    entered: set[int] = set()
    for _ in range(levels):
        inner: list[Value] = []
        for item in level:
            if isinstance(item, np.ndarray):
                yield id(root_of(item))
            elif isinstance(item, RefValue):
                yield id(item)
                inner += (item.value,) if isinstance(item, StateValue) else ()
            elif not isinstance(item, AdtValue) and id(item) not in entered:
                entered.add(id(item))
                inner += fields_of(item, into_captures=True)
        level = tuple(inner)
