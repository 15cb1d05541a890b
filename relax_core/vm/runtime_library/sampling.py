"""Sampling of tokens, and what changes their probabilities before.

See: tvm/src/runtime/vm/lm_support.cc
"""

import numpy as np

from relax_core.vm.objects.values import Array, shape_text
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.runtime_library.states import need_same, need_shape

_SMALLEST = np.float32(1.17549435e-38)
_COLD = 1e-6


def sample_top_p_from_logits(given: Given) -> int:
    """Return a token by the softmax of the logits, among those whose larger ones together have less than `top_p`.

    Below a temperature of 1e-6 it is the most probable one.
    """
    logits = _scores(given.tensor("logits"), "logits")
    temperature = float(given.number("temperature"))
    ids = np.argsort(-logits, kind="stable")
    if temperature < _COLD:
        return int(ids[0])
    ranked = logits[ids]
    powers = np.exp((ranked - ranked[0]) * np.float32(1.0 / temperature)).astype(np.float32)
    sums, kept = _sums(powers / _total(powers), float(given.number("top_p")))
    sample = float(given.number("uniform_sample"))
    found = np.flatnonzero(sample < sums / sums[kept - 1])
    return int(ids[found[0] if found.size else 0])


def sample_top_p_from_prob(given: Given) -> int:
    """Return a token by its probability, among those whose larger ones together have less than `top_p`."""
    row = _scores(given.tensor("prob"), "prob")
    top_p, sample = float(given.number("top_p")), float(given.number("uniform_sample"))
    # TVM looks at large probabilities first; where those are too few, at all.
    for cutoff in (np.float32(top_p / 1024), np.float32(0.0)) if top_p < 1 else (np.float32(0.0),):
        ids = np.flatnonzero(row >= cutoff)
        ids = ids[np.argsort(-row[ids], kind="stable")]
        if not ids.size:
            continue
        if top_p <= 0 or sample < row[ids[0]] / top_p:
            return int(ids[0])
        sums, kept = _sums(row[ids], top_p)
        if sums[kept - 1] < top_p and cutoff:
            continue
        found = np.flatnonzero(sample < sums[:kept] / sums[kept - 1])
        return int(ids[found[0] if found.size else -1])
    raise ArgumentError("prob has no probability that is at least 0")


def _scores(array: Array, name: str) -> Array:
    """Return the one row of scores; axes of size 1 may stand in front."""
    need_same(name, array, np.dtype(np.float32))
    if not array.ndim or not array.size or array.size != array.shape[-1]:
        raise ArgumentError(f"{name} is one row of scores, got the shape {shape_text(array.shape)}")
    row = array.reshape(-1)
    if np.isnan(row).any():
        raise ArgumentError(f"{name} has a NaN at {int(np.isnan(row).argmax())}, so that it has no order")
    return row


def _sums(ranked: Array, top_p: float) -> tuple[Array, int]:
    """Return the running sums, and how many tokens come before they have reached `top_p`, one at least."""
    sums = np.cumsum(ranked, dtype=np.float32)
    return sums, min(1 + int(np.count_nonzero(sums[:-1] < top_p)), len(sums)) if top_p > 0 else 1


def _total(values: Array) -> np.float32:
    return np.cumsum(values, dtype=np.float32)[-1]


def multinomial_from_uniform(given: Given) -> Array:
    """Return for each row the first token whose running sum is more than the sample; the last one if there is none."""
    prob, samples = given.tensor("prob"), given.tensor("uniform_sample")
    need_same("prob", prob, np.dtype(np.float32))
    need_same("uniform_sample", samples, np.dtype(np.float32))
    need_shape("prob", prob, (None, None))
    need_shape("uniform_sample", samples, (len(prob), 1))
    if prob.shape[1] == 0:
        raise ArgumentError("prob has a token to choose")
    is_more = np.cumsum(prob, axis=1, dtype=np.float32) > samples
    # The last token counts as more than any sample.
    is_more[:, -1] = True
    return np.argmax(is_more, axis=1).astype(np.int64).reshape(-1, 1)


def apply_repetition_penalty(given: Given) -> None:
    """Make tokens less probable that occurred, once for each time: negative logits times, others divided by it."""
    row, ids = _row(given, "logits"), _ids(given, "token_ids")
    penalty = float(given.number("penalty"))
    for token in ids:
        score = float(row[token])
        with np.errstate(all="ignore"):
            row[token] = np.float64(score) * penalty if score <= 0 else np.float64(score) / penalty


def apply_presence_and_frequency_penalty(given: Given) -> None:
    """Take from the logits of tokens that occurred: the presence penalty, and the frequency one for each time."""
    row, ids = _row(given, "logits"), _ids(given, "token_ids")
    counts = given.tensor("token_freqs")
    need_same("token_freqs", counts, np.dtype(np.int32))
    if counts.size != len(ids):
        raise ArgumentError(f"token_freqs has a number for each of token_ids, {len(ids)}, got {counts.size}")
    presence, frequency = float(given.number("presence_penalty")), float(given.number("frequency_penalty"))
    for token, count in zip(ids, counts.reshape(-1), strict=True):
        row[token] = float(row[token]) - (int(count) * frequency + presence)


def apply_softmax_with_temperature(given: Given) -> None:
    """Write softmax(logits / temperature); the largest begins at the smallest positive number, as TVM has it.

    So very negative logits become NaN.
    """
    row, temperature = _row(given, "logits"), float(given.number("temperature"))
    with np.errstate(all="ignore"):
        scaled = row * np.float32(np.float64(1.0) / temperature)
        powers = np.exp(scaled - scaled.max(initial=_SMALLEST)).astype(np.float64)
        row[...] = powers / powers.sum()


def _row(given: Given, name: str) -> Array:
    array = given.tensor(name)
    need_same(name, array, np.dtype(np.float32))
    if not array.flags.c_contiguous or (array.ndim > 1 and array.size != array.shape[-1]):
        raise ArgumentError(f"{name} is one row, got the shape {shape_text(array.shape)}")
    return array.reshape(-1)


def _ids(given: Given, name: str) -> list[int]:
    ids, size = given.tensor(name), given.tensor("logits").size
    need_same(name, ids, np.dtype(np.int32))
    found = [int(item) for item in ids.reshape(-1)]
    wrong = next((item for item in found if not 0 <= item < size), None)
    if wrong is not None:
        raise ArgumentError(f"{name} is from 0 to {size - 1}, got {wrong}")
    return found
