"""Attention and rotary position embedding on plain rows, summed in float64."""

import math
from typing import Final

import numpy as np

from relax_core.vm.objects.values import Array

_LOG2_E: Final = math.log2(math.e)


def rotated(rows: Array, positions: Array, theta: float, scale: float) -> Array:
    """Return rows `(n, heads, d)` rotated by their positions: dimension i with i + d/2, by the plain formula."""
    size = rows.shape[-1]
    steps = np.array([2 * at % size / size for at in range(size)])
    angles = (positions.astype(np.float64) * scale)[:, None] / theta**steps
    half = size // 2
    turned = np.concatenate([-rows[..., half:], rows[..., :half]], axis=-1).astype(np.float64)
    return (rows * np.cos(angles)[:, None, :] + turned * np.sin(angles)[:, None, :]).astype(rows.dtype)


def attended(q: Array, k: Array, v: Array, mask: Array | None, scale: float) -> tuple[Array, Array]:
    """Return softmax(q k^T * scale) v, and the logarithm of the sums of exponentials to the base 2.

    `(t, hq, d), (n, hk, d), (n, hk, dv) -> (t, hq, dv), (t, hq)`; head h reads head h // (hq // hk) of k and v. `mask`
    `(t, n)` says what is seen. Where nothing is, the sum is 0 and its logarithm -inf.
    """
    tokens, heads, _ = q.shape
    group = heads // max(k.shape[1], 1)
    grouped = q.astype(np.float64).reshape(tokens, k.shape[1], group, q.shape[2])
    scores = np.einsum("tkgd,nkd->tkgn", grouped, k.astype(np.float64)) * scale
    if mask is not None:
        scores = np.where(mask[:, None, None, :], scores, -np.inf)
    largest = scores.max(axis=-1, initial=-np.inf, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        powers = np.exp(np.where(np.isneginf(scores), -np.inf, scores - largest))
        sums = powers.sum(axis=-1)
        out = np.einsum("tkgn,nkd->tkgd", powers, v.astype(np.float64)) / np.where(sums == 0, 1, sums)[..., None]
        lse = np.where(sums == 0, -np.inf, largest[..., 0] * _LOG2_E + np.log2(sums))
    return out.reshape(tokens, heads, v.shape[2]), lse.reshape(tokens, heads)


def merged(parts: tuple[tuple[Array, Array], tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the attention over two sets of rows from that over each, `(t, h, d)` and `(t, h)` to the base 2."""
    (one, one_lse), (other, other_lse) = ((out.astype(np.float64), lse.astype(np.float64)) for out, lse in parts)
    largest = np.maximum(one_lse, other_lse)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = [np.where(np.isneginf(lse), 0.0, np.exp2(lse - largest)) for lse in (one_lse, other_lse)]
        total = weights[0] + weights[1]
        out = one * (weights[0] / total)[..., None] + other * (weights[1] / total)[..., None]
        return out, largest + np.log2(total)


def seen(past: int, parents: tuple[int, ...]) -> Array:
    """Return which rows each new one sees: all `past` ones, itself, and its ancestors among the new ones."""
    count = len(parents)
    mask = np.zeros((count, past + count), np.bool_)
    mask[:, :past] = True
    for at, parent in enumerate(parents):
        if parent >= 0:
            mask[at, past:] = mask[parent, past:]
        mask[at, past + at] = True
    return mask
