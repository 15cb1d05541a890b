"""What the operators of object detection compute, on NumPy arrays."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Op
from relax_core.ops.layout import parse_layout
from relax_core.ops.nn.convolution import spread
from relax_core.ops.spec import Value

Array: TypeAlias = "np.ndarray[Any, Any]"


def overlap(a: Array, b: Array) -> float:
    """Return the area that two boxes share, divided by the area of both; corners are in any order."""
    top, left = np.minimum(a[:2], a[2:]), np.minimum(b[:2], b[2:])
    bottom, right = np.maximum(a[:2], a[2:]), np.maximum(b[:2], b[2:])
    shared = float(np.prod(np.maximum(np.minimum(bottom, right) - np.maximum(top, left), 0)))
    whole = float(np.prod(bottom - top)) + float(np.prod(right - left)) - shared
    return shared / whole if whole > 0 else 0.0


def suppress(args: tuple[Value, ...]) -> Value:
    """Compute `vision.non_max_suppression`: the boxes that stay, in the order of scores, or their indices and number.

    Boxes keep their places in that order, with rows of -1 between them, unless `invalid_to_bottom` moves them up or
    soft suppression changes the order.
    """
    data, counts, names = (np.asarray(item) for item in args[:3])
    limit, top, sigma = int(args[3]), int(args[6]), float(args[12])
    boxes = np.full_like(data, -1)
    indices, total = np.full(data.shape[:2], -1, np.int32), np.zeros((data.shape[0], 1), np.int32)
    for batch, rows in enumerate(data):
        order = np.argsort(-rows[: int(counts[batch]), int(args[8])], kind="stable")
        best = [int(item) for item in (order[:top] if top > 0 else order)]
        kept = _kept(rows.copy(), best.copy(), args)
        kept = kept[:limit] if limit > 0 else kept
        total[batch] = len(kept)
        for place, (row, score) in enumerate(kept):
            at = place if args[11] or args[10] or sigma > 0 else best.index(row)
            boxes[batch, at] = rows[row]
            boxes[batch, at, int(args[8])] = score
            indices[batch, place] = names[batch, row]
    if not args[10]:
        return boxes
    return (boxes, indices, total) if sigma > 0 else (indices, total)


def _kept(rows: Array, left: list[int], args: tuple[Value, ...]) -> list[tuple[int, float]]:
    """Return the rows that stay with their scores, the best first; soft suppression lowers scores on the way."""
    limit, start, score_at, id_at = float(args[4]), int(args[7]), int(args[8]), int(args[9])
    is_forced, sigma, least = bool(args[5]) or id_at < 0, float(args[12]), float(args[13])
    kept: list[tuple[int, float]] = []
    while left:
        best = max(left, key=lambda row: float(rows[row, score_at]))
        left.remove(best)
        if rows[best, score_at] <= least or (id_at >= 0 and rows[best, id_at] < 0):
            continue
        kept.append((best, float(rows[best, score_at])))
        for other in tuple(left):
            if not is_forced and rows[best, id_at] != rows[other, id_at]:
                continue
            shared = overlap(rows[best, start : start + 4], rows[other, start : start + 4])
            if shared >= limit:
                left.remove(other)
            elif sigma > 0:
                rows[other, score_at] *= math.exp(-0.5 * shared * shared / sigma)
    return kept


def suppress_by_class(args: tuple[Value, ...]) -> Value:
    """Compute `vision.all_class_non_max_suppression`: what stays of each image and class, the best first."""
    boxes, scores = np.asarray(args[0]), np.asarray(args[1])
    limit, shared, least = (np.asarray(item).reshape(-1)[0] for item in args[2:5])
    rows = [
        (batch, kind, index)
        for batch in range(scores.shape[0])
        for kind in range(scores.shape[1])
        for index in _best(boxes[batch], scores[batch, kind], int(limit), float(shared), float(least))
    ]
    if args[5] == "onnx":
        return np.reshape(np.asarray(rows, np.int64), (-1, 3)), np.asarray([len(rows)], np.int64)
    room = scores.shape[1] * boxes.shape[1]
    places, values = np.zeros((scores.shape[0], room, 2), np.int64), np.zeros((scores.shape[0], room), np.float32)
    total = np.zeros(scores.shape[0], np.int64)
    for batch, kind, index in rows:
        places[batch, total[batch]], values[batch, total[batch]] = (kind, index), scores[batch, kind, index]
        total[batch] += 1
    return places, values, total


def _best(boxes: Array, scores: Array, limit: int, shared: float, least: float) -> list[int]:
    kept: list[int] = []
    for index in np.argsort(-scores, kind="stable"):
        if len(kept) >= limit or scores[index] <= least:
            break
        if all(overlap(boxes[index], boxes[other]) <= shared for other in kept):
            kept.append(int(index))
    return kept


def align_regions(args: tuple[Value, ...]) -> Value:
    """Compute `vision.roi_align`: the mean, or the greatest, of samples between the pixels of each bin.

    As in TVM, `aligned` lets a region be smaller than a pixel; it does not shift it by half of one.
    """
    layout = parse_layout(Call(Op("relax.vision.roi_align"), ()), args[6], "NCHW")
    data, regions = layout.unpacked(np.asarray(args[0]), "NCHW"), np.asarray(args[1], np.float64)
    pooled, scale = spread(args[2], 2), float(args[3])
    result = np.zeros((len(regions), data.shape[1], *pooled), np.float64)
    for number, (image, *corners) in enumerate(regions):
        left, top, right, bottom = (corner * scale for corner in corners)
        extent = (bottom - top, right - left)
        if not args[5]:
            extent = (max(extent[0], 1.0), max(extent[1], 1.0))
        bins = [extent[k] / pooled[k] for k in (0, 1)]
        count = [int(args[4]) if int(args[4]) > 0 else math.ceil(bins[k]) for k in (0, 1)]
        for at in np.ndindex(*pooled):
            samples = [
                _between(
                    data[int(image)], [(top, left)[k] + bins[k] * (at[k] + (i[k] + 0.5) / count[k]) for k in (0, 1)]
                )
                for i in np.ndindex(*count)
            ]
            taken = np.max if args[7] == "max" else np.mean
            result[(number, slice(None), *at)] = taken(samples, axis=0) if samples else 0
    return layout.packed(result.astype(np.asarray(args[0]).dtype), "NCHW")


def _between(image: Array, place: Sequence[float]) -> Array:
    """Interpolate `image` (channels, height, width) at a place; it is 0 more than a pixel outside."""
    sizes = image.shape[1:]
    if any(not -1 <= place[k] <= sizes[k] for k in (0, 1)):
        return np.zeros(image.shape[0])
    at = [min(max(place[k], 0.0), sizes[k] - 1.0) for k in (0, 1)]
    low = [int(item) for item in at]
    high = [min(low[k] + 1, sizes[k] - 1) for k in (0, 1)]
    y, x = at[0] - low[0], at[1] - low[1]
    upper = image[:, low[0], low[1]] * (1 - x) + image[:, low[0], high[1]] * x
    lower = image[:, high[0], low[1]] * (1 - x) + image[:, high[0], high[1]] * x
    return upper * (1 - y) + lower * y


def pool_regions(args: tuple[Value, ...]) -> Value:
    """Compute `vision.roi_pool`: the greatest pixel of each bin; a bin without pixels is 0."""
    layout = parse_layout(Call(Op("relax.vision.roi_pool"), ()), args[4], "NCHW")
    data, regions = layout.unpacked(np.asarray(args[0]), "NCHW"), np.asarray(args[1])
    pooled, scale = spread(args[2], 2), float(args[3])
    result = np.zeros((len(regions), data.shape[1], *pooled), data.dtype)
    for number, (image, *corners) in enumerate(regions):
        left, top, right, bottom = (math.floor(float(corner) * scale + 0.5) for corner in corners)
        start, extent = (top, left), (max(bottom - top + 1, 1), max(right - left + 1, 1))
        for at in np.ndindex(*pooled):
            first = [start[k] + math.floor(at[k] * extent[k] / pooled[k]) for k in (0, 1)]
            last = [start[k] + math.ceil((at[k] + 1) * extent[k] / pooled[k]) for k in (0, 1)]
            rows, columns = (slice(max(first[k], 0), max(last[k], 0)) for k in (0, 1))
            part = data[int(image), :, rows, columns].reshape(data.shape[1], -1)
            result[(number, slice(None), *at)] = part.max(axis=1) if part.size else 0
    return layout.packed(result, "NCHW")


def transform_boxes(args: tuple[Value, ...]) -> Value:
    """Compute `vision.multibox_transform_loc`: corners (y, x, y, x) from anchors, and scores of classes."""
    classes, places, anchors = (np.asarray(item) for item in args[:3])
    offsets = places.reshape(places.shape[0], -1, 4) * np.asarray(args[5], places.dtype)
    low, high = anchors[..., :2], anchors[..., 2:]
    center = (low + high) / 2 + offsets[..., :2] * (high - low)
    half = np.exp(offsets[..., 2:]) * (high - low) / 2
    boxes = np.concatenate([(center - half)[..., ::-1], (center + half)[..., ::-1]], axis=-1).astype(places.dtype)
    scores = classes
    if args[7]:
        shifted = np.exp(classes - classes.max(axis=1, keepdims=True))
        scores = (shifted / shifted.sum(axis=1, keepdims=True)).astype(classes.dtype)
    scores = np.where(scores >= float(args[4]), scores, 0).astype(classes.dtype)
    if not args[6]:
        scores[:, 0] = 0
    return (np.clip(boxes, 0, 1) if args[3] else boxes), scores
