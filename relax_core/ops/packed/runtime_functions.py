"""The functions of TVM's runtime that modules of language models call: what they take, give and write."""

from relax_core.ir.expr import TensorType, Type
from relax_core.ir.prim import const
from relax_core.ops.packed.results import tensor
from relax_core.ops.packed.spec import Facts, PackedSpec, spec_of

_CACHE = "vm.builtin.attention_kv_cache_"
_STATE = "vm.builtin.kv_state_"
_DISCO = "runtime.disco."
_SAMPLE = "vm.builtin.sample_top_p_from_"


def _chosen_type(facts: Facts) -> Type:
    """Return a column with an int64 token for each row of probabilities."""
    rows = tensor(facts, "prob").dims
    return TensorType((rows[0], const(1)) if rows else None, "int64", 2)


def _positions_type(facts: Facts) -> Type:
    """Return a position for each token of the batch, of which only the run tells how many there are."""
    return TensorType(None, "int32", 1)


def _sizes_type(facts: Facts) -> Type:
    """Return an int64 for each dimension."""
    sizes = facts.get("shape")
    return TensorType((const(len(sizes)),) if isinstance(sizes, tuple) else None, "int64", 1)


def _stateful(schema: str, summary: str) -> PackedSpec:
    return spec_of(schema, summary, is_pure=False)


SPECS: tuple[PackedSpec, ...] = (
    spec_of("relax.run.shape_to_tensor(int[] shape) -> Tensor",
            "The dimensions of a shape as a tensor.", infer=_sizes_type),
    _stateful("vm.builtin.memory_manager.clear() -> ()",
              "Gives back memory that nothing uses, of which there is none here."),
    _stateful("vm.builtin.tuple_reset_item(any tuple, int index) -> ()",
              "Ends the life of a field, which no program reads again; here it stays."),

    spec_of(f"{_DISCO}allreduce(Tensor data, int[] op_type, int in_group, Tensor(a!) out) -> Tensor(a!)",
            "The tensor of the one worker that there is: reduced over it alone, it stays."),
    spec_of(f"{_DISCO}allgather(Tensor data, int in_group, Tensor(a!) out) -> Tensor(a!)",
            "The tensor as often as the result has room: other workers, which no run has, are taken to have the same."),
    spec_of(f"{_DISCO}broadcast_from_worker0(Tensor data, int in_group, Tensor(a!) out) -> Tensor(a!)",
            "The tensor of the first worker."),
    spec_of(f"{_DISCO}scatter_from_worker0(Tensor data, int in_group, Tensor(a!) out) -> Tensor(a!)",
            "The part of the first worker: the first element of the first axis."),

    spec_of(f"{_SAMPLE}logits(Tensor logits, float temperature, float top_p, float uniform_sample) -> int",
            "A token by softmax(logits / temperature), of the most probable ones that have `top_p` together."
            " Below a temperature of 1e-6, the most probable one. Of equal ones the first comes first."),
    spec_of(f"{_SAMPLE}prob(Tensor prob, float top_p, float uniform_sample) -> int",
            "A token by its probability, of the most probable ones that have `top_p` together."),
    spec_of("vm.builtin.multinomial_from_uniform(Tensor prob, Tensor uniform_sample) -> Tensor",
            "For each row the first token whose running sum is more than the sample, else the last.",
            infer=_chosen_type),
    spec_of("vm.builtin.apply_repetition_penalty(Tensor(a!) logits, Tensor token_ids, float penalty) -> ()",
            "Logits of tokens that occurred, once for each time: negative ones times the penalty, others divided."),
    spec_of("vm.builtin.apply_presence_and_frequency_penalty(Tensor(a!) logits, Tensor token_ids, Tensor token_freqs,"
            " float presence_penalty, float frequency_penalty) -> ()",
            "Takes from the logits of tokens that occurred: presence_penalty + count * frequency_penalty."),
    spec_of("vm.builtin.apply_softmax_with_temperature(Tensor(a!) logits, float temperature) -> ()",
            "softmax(logits / temperature). The maximum begins at the smallest positive number, as in TVM: of logits"
            " that are all very negative it makes NaN."),

    _stateful(f"{_CACHE}create(Tensor init_data, int[] reserve_shape, int init_fill_count) -> any",
              "A KV cache with the rows of init_data; init_fill_count of them count, all for -1."),
    _stateful(f"{_CACHE}append(any cache, Tensor value) -> any",
              "Adds rows; the reservation is doubled until they fit."),
    _stateful(f"{_CACHE}update(any cache, Tensor value) -> any", "Overwrites all rows."),
    spec_of(f"{_CACHE}view(any cache, int[]? shape=None) -> Tensor", "The rows, in the memory of the cache."),
    _stateful(f"{_CACHE}window_override(any cache, Tensor value, int max_cache_size) -> any",
              "Adds rows to a window; what does not fit overwrites the oldest."),
    _stateful(f"{_CACHE}window_override_with_sinks(any cache, Tensor value, int max_cache_size,"
              " int num_attention_sinks) -> any",
              "Adds rows to a window whose first ones stay; what does not fit overwrites the oldest behind them."),
    _stateful(f"{_CACHE}array_popn(any caches, int n) -> ()", "Takes the last rows from each cache of a tuple."),
    _stateful(f"{_CACHE}array_clear(any caches) -> ()", "Takes all rows from each cache of a tuple."),

    _stateful("vm.builtin.paged_attention_kv_cache_create(int[] cache_config, int[] layer_indptr, int num_qo_heads,"
              " int num_kv_heads, int qk_head_dim, int v_head_dim, int[] attn_kinds, bool enable_kv_transfer,"
              " int rope_mode, float rotary_scale, float rotary_theta, any rope_ext_factors, Tensor init,"
              " any? f_transpose_append_mha=None, any? f_transpose_append_mla=None,"
              " any? f_attention_prefill_ragged=None, any? f_attention_prefill=None,"
              " any? f_attention_decode=None, any? f_prefill_sliding_window=None,"
              " any? f_decode_sliding_window=None, any? f_prefill_with_tree_mask_paged=None,"
              " any? f_prefill_with_tree_mask=None, any? f_mla_prefill=None, any? f_merge_inplace=None,"
              " any? f_split_rotary=None, any? f_copy_single_page=None, any? f_debug_get_kv=None,"
              " any? f_compact_copy=None, any? more=None) -> any",
              "A paged KV cache without sequences. Rows are kept plainly, not in pages: of the program's kernels only"
              " f_split_rotary is called. Windows that slide are not simulated."),
    _stateful(f"{_STATE}clear(any state) -> ()", "Takes away all sequences of a paged KV cache or RNN state."),
    _stateful(f"{_STATE}add_sequence(any state, int seq_id) -> ()", "Adds a sequence without tokens."),
    _stateful(f"{_STATE}remove_sequence(any state, int seq_id) -> ()", "Takes a sequence away."),
    _stateful(f"{_STATE}fork_sequence(any state, int parent_seq_id, int child_seq_id, int fork_pos=-1) -> ()",
              "Adds a sequence with the rows of another one up to fork_pos, all of them for -1."),
    _stateful(f"{_STATE}popn(any state, int seq_id, int n) -> ()", "Takes the last tokens from a sequence."),
    _stateful(f"{_STATE}begin_forward(any state, int[] seq_ids, int[] append_lengths,"
              " int[]? token_tree_parent_ptr=None) -> ()",
              "Opens a batch: the rows of q, k and v are the new tokens of the sequences, one sequence after the other."
              " A tree of tokens names the parent of each, -1 for a root."),
    _stateful(f"{_STATE}end_forward(any state) -> ()", "Closes the batch."),
    _stateful(f"{_CACHE}attention_with_fused_qkv(any state, int layer_id, float sm_scale, Tensor qkv_data,"
              " Tensor(a!) o_data) -> Tensor(a!)",
              "Rotates q and k by their positions, appends k and v, and attends causally to all rows of each sequence:"
              " softmax(q k^T * sm_scale) v."),
    _stateful(f"{_CACHE}attention_with_shared_kv(any state, int source_layer_id, float sm_scale, Tensor q_data,"
              " Tensor current_k_data, Tensor current_v_data, Tensor(a!) o_data) -> Tensor(a!)",
              "Attends to the rows of another layer; nothing is appended."),
    _stateful(f"{_CACHE}self_attention(any state, int layer_id, float sm_scale, Tensor q_data, Tensor k_data,"
              " Tensor v_data, Tensor(a!) o_data, Tensor(b!) lse_data) -> (Tensor(a!), Tensor(b!))",
              "Attends to the new rows alone; lse is the logarithm of the sums of exponentials to the base 2."),
    _stateful(f"{_CACHE}cross_attention(any state, int layer_id, float sm_scale, Tensor q_data, Tensor(a!) o_data,"
              " Tensor(b!) lse_data) -> (Tensor(a!), Tensor(b!))",
              "Attends to the rows before this batch; if each sequence has one new token, to that as well."),
    _stateful(f"{_CACHE}append_mla_kv(any state, int layer_id, Tensor kv_data) -> any", "Appends latent rows."),
    spec_of(f"{_CACHE}merge_attn_output_inplace(any state, Tensor(a!) o_self_attn, Tensor(b!) lse_self_attn,"
            " Tensor o_cross_attn, Tensor lse_cross_attn) -> (Tensor(a!), Tensor(b!))",
            "Writes attention over two sets of rows to the first outputs, from that over each."),
    _stateful(f"{_CACHE}commit_accepted_token_tree_nodes(any state, int[] seq_ids, int[] leaf_indices) -> ()",
              "Keeps of each tree the path to a leaf, nothing of it for -1."),
    spec_of(f"{_CACHE}get_query_positions(any state) -> Tensor",
            "The positions of the batch's tokens within their sequences.", infer=_positions_type),
    spec_of(f"{_CACHE}get_total_sequence_length(any state) -> int", "The number of rows of all sequences."),
    spec_of(f"{_CACHE}get_sequence_length(any state, int seq_id) -> int", "The number of rows of a sequence."),
    spec_of(f"{_CACHE}get_num_available_pages(any state) -> int",
            "How many pages TVM would have left. Not simulated once a sequence was forked."),
    spec_of(f"{_CACHE}empty(any state) -> bool", "Whether there is no sequence."),
    _stateful(f"{_CACHE}enable_sliding_window_for_seq(any state, int seq_id, int sliding_window_size,"
              " int attn_sink_size) -> ()", "Not simulated."),
    spec_of(f"{_CACHE}debug_get_kv(any state, int seq_id, int start_pos, int end_pos, Tensor(a!) k_data,"
            " Tensor(b!) v_data) -> (Tensor(a!), Tensor(b!))",
            "Copies rows of all layers: (layers, end_pos - start_pos, heads, size)."),

    _stateful("vm.builtin.rnn_state_create(int num_layers, int reserved_num_seqs, int max_history, any f_gets,"
              " any f_sets, Tensor[] init_layer_value) -> any",
              "A state of recurrent layers, with a value for each layer and each of init_layer_value."
              " The getters and setters are not called."),
    spec_of("vm.builtin.rnn_state_get(any state, int layer_id, int state_id, Tensor(a!) o_data) -> Tensor(a!)",
            "Writes the present values, one for each sequence of the batch."),
    _stateful("vm.builtin.rnn_state_set(any state, int layer_id, int state_id, Tensor data) -> any",
              "Sets the values that are the present ones when the batch is closed."),
    spec_of("vm.builtin.rnn_state_debug_get(any state, int layer_id, int state_id, int seq_id) -> Tensor",
            "The present value of a sequence."),
)  # fmt: skip
