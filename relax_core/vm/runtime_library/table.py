"""The functions of this package by name; what each takes is declared in `ops/packed/runtime_functions.py`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from relax_core.vm.context import Context
from relax_core.vm.objects.values import Array
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.runtime_library import disco, kv_cache, paged_attention, paged_cache, rnn_state, sampling, sequences


def _shape_to_tensor(given: Given) -> Array:
    return np.array(given.integers("shape"), np.int64)


def _reset_item(given: Given) -> None:
    fields = given.value_of["tuple"]
    if not isinstance(fields, tuple) or not 0 <= given.integer("index") < len(given.value_of["tuple"]):
        raise ArgumentError(f"there is no field {given.integer('index')}")


def _clear_memory(given: Given) -> None:
    pass


CACHE = "vm.builtin.attention_kv_cache_"
STATE = "vm.builtin.kv_state_"

FUNCTIONS: Mapping[str, Callable[[Given], Any]] = MappingProxyType(
    {
        "relax.run.shape_to_tensor": _shape_to_tensor,
        "vm.builtin.memory_manager.clear": _clear_memory,
        "vm.builtin.tuple_reset_item": _reset_item,
        "runtime.disco.allreduce": disco.broadcast,
        "runtime.disco.allgather": disco.gather,
        "runtime.disco.broadcast_from_worker0": disco.broadcast,
        "runtime.disco.scatter_from_worker0": disco.scatter,
        "vm.builtin.sample_top_p_from_logits": sampling.sample_top_p_from_logits,
        "vm.builtin.sample_top_p_from_prob": sampling.sample_top_p_from_prob,
        "vm.builtin.multinomial_from_uniform": sampling.multinomial_from_uniform,
        "vm.builtin.apply_repetition_penalty": sampling.apply_repetition_penalty,
        "vm.builtin.apply_presence_and_frequency_penalty": sampling.apply_presence_and_frequency_penalty,
        "vm.builtin.apply_softmax_with_temperature": sampling.apply_softmax_with_temperature,
        f"{CACHE}get_query_positions": paged_cache.query_positions,
        f"{CACHE}get_total_sequence_length": paged_cache.total_length,
        f"{CACHE}get_sequence_length": paged_cache.sequence_length,
        f"{CACHE}get_num_available_pages": paged_cache.available_pages,
        f"{CACHE}empty": paged_cache.is_empty,
        f"{CACHE}enable_sliding_window_for_seq": paged_cache.refuse_window,
        f"{CACHE}debug_get_kv": paged_cache.debug_get_kv,
        f"{CACHE}merge_attn_output_inplace": paged_attention.merge_attn_output_inplace,
        "vm.builtin.rnn_state_get": rnn_state.get,
        "vm.builtin.rnn_state_debug_get": rnn_state.debug_get,
    }
)
"""Functions of their arguments alone."""

STATEFUL: Mapping[str, Callable[[Context, Given], Any]] = MappingProxyType(
    {
        f"{CACHE}create": kv_cache.create,
        f"{CACHE}append": kv_cache.append,
        f"{CACHE}update": kv_cache.update,
        f"{CACHE}window_override": kv_cache.window_override,
        f"{CACHE}window_override_with_sinks": kv_cache.window_override,
        f"{CACHE}view": kv_cache.view,
        f"{CACHE}array_popn": kv_cache.array_popn,
        f"{CACHE}array_clear": kv_cache.array_clear,
        "vm.builtin.paged_attention_kv_cache_create": paged_cache.create,
        f"{CACHE}commit_accepted_token_tree_nodes": paged_cache.commit,
        f"{CACHE}attention_with_fused_qkv": paged_attention.attention_with_fused_qkv,
        f"{CACHE}attention_with_shared_kv": paged_attention.attention_with_shared_kv,
        f"{CACHE}self_attention": paged_attention.self_attention,
        f"{CACHE}cross_attention": paged_attention.cross_attention,
        f"{CACHE}append_mla_kv": paged_attention.append_mla_kv,
        "vm.builtin.rnn_state_create": rnn_state.create,
        "vm.builtin.rnn_state_set": rnn_state.set_,
        f"{STATE}clear": sequences.clear,
        f"{STATE}add_sequence": sequences.add_sequence,
        f"{STATE}remove_sequence": sequences.remove_sequence,
        f"{STATE}fork_sequence": sequences.fork_sequence,
        f"{STATE}popn": sequences.popn,
        f"{STATE}begin_forward": sequences.begin_forward,
        f"{STATE}end_forward": sequences.end_forward,
    }
)
"""Functions of the machine, which allocate, and make or change objects of the runtime."""
