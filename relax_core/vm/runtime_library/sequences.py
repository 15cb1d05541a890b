"""The functions on sequences that a paged KV cache and a recurrent state share."""

from types import ModuleType

from relax_core.vm.context import Context
from relax_core.vm.objects.values import StateValue
from relax_core.vm.packed_library.arrays import Given
from relax_core.vm.runtime_library import paged_cache, rnn_state


def _of(given: Given) -> tuple[ModuleType, StateValue]:
    """Return the state that a call is about, and what works on its kind."""
    if paged_cache.is_paged(given.value_of["state"]):
        return paged_cache, paged_cache.cache_of(given)
    return rnn_state, rnn_state.state(given)


def clear(context: Context, given: Given) -> None:
    """Take away all sequences."""
    kind, state = _of(given)
    kind.clear(context, state)


def add_sequence(context: Context, given: Given) -> None:
    """Add a sequence."""
    kind, state = _of(given)
    kind.add_sequence(context, state, given.integer("seq_id"))


def remove_sequence(context: Context, given: Given) -> None:
    """Take a sequence away."""
    kind, state = _of(given)
    kind.remove_sequence(context, state, given.integer("seq_id"))


def fork_sequence(context: Context, given: Given) -> None:
    """Add a sequence that begins as another one."""
    kind, state = _of(given)
    numbers = given.integer("parent_seq_id"), given.integer("child_seq_id")
    kind.fork_sequence(context, state, numbers, given.integer("fork_pos"))


def popn(context: Context, given: Given) -> None:
    """Take the last tokens from a sequence."""
    kind, state = _of(given)
    kind.popn(context, state, given.integer("seq_id"), given.integer("n"))


def begin_forward(context: Context, given: Given) -> None:
    """Open a batch of new tokens."""
    kind, state = _of(given)
    parents = given.value_of["token_tree_parent_ptr"]
    ids, lengths = given.integers("seq_ids"), given.integers("append_lengths")
    kind.begin_forward(context, state, ids, lengths, parents)


def end_forward(context: Context, given: Given) -> None:
    """Close the batch."""
    kind, state = _of(given)
    kind.end_forward(context, state)
