"""Functions that put elements at other places: joined, split, turned round, moved, picked."""

import re

import numpy as np

from relax_core.vm.objects.values import Array
from relax_core.vm.packed_library.arrays import ArgumentError, Given, fitting, promoted


def cat(given: Given) -> Array:
    """Return tensors one after the other; their other sizes agree."""
    tensors = given.tensors("tensors")
    if not tensors:
        raise ArgumentError("tensors is not empty")
    shapes = [item.shape for item in tensors]
    if not tensors[0].ndim:
        raise ArgumentError("tensors of rank 0 cannot be joined; stack them")
    axis = given.integer("dim") % tensors[0].ndim
    rest = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
    if len({len(shape) for shape in shapes}) > 1 or len(rest) > 1:
        raise ArgumentError(f"the shapes of tensors agree but for axis {axis}, got {', '.join(map(str, shapes))}")
    return np.concatenate(tensors, axis).astype(promoted(*tensors))


def stack(given: Given) -> Array:
    """Return tensors of one shape along a new axis."""
    tensors = given.tensors("tensors")
    if not tensors:
        raise ArgumentError("tensors is not empty")
    if len({item.shape for item in tensors}) > 1:
        raise ArgumentError(f"tensors have one shape, got {', '.join(str(item.shape) for item in tensors)}")
    return np.stack(tensors, given.integer("dim")).astype(promoted(*tensors))


def split(given: Given) -> tuple[Array, ...]:
    """Return pieces of a size along an axis."""
    self, split_size, dim = given.tensor("self"), given.integer("split_size"), given.integer("dim")
    if not self.ndim:
        raise ArgumentError("self has an axis")
    starts = range(0, max(self.shape[dim], 1), split_size)
    return tuple(np.take(self, range(start, min(start + split_size, self.shape[dim])), dim) for start in starts)


def flip(given: Given) -> Array:
    """Return the elements in the opposite order along axes; along none, as they are."""
    self = given.tensor("self")
    return np.flip(self, given.integers("dims")).copy() if self.ndim else self.copy()


def roll(given: Given) -> Array:
    """Return the elements moved along axes; without axes, along all as one."""
    self, shifts, dims = given.tensor("self"), given.integers("shifts"), given.integers("dims")
    if not dims and len(shifts) == 1:
        return np.roll(self, shifts[0])
    if len(shifts) != len(dims):
        raise ArgumentError(f"there is a shift for each of dims, got {len(shifts)} for {len(dims)}")
    return np.roll(self, shifts, dims) if self.ndim else self.copy()


def index_select(given: Given) -> Array:
    """Return slices of an axis; an index is not counted from the end."""
    self, dim, index = given.tensor("self"), given.integer("dim"), given.tensor("index")
    if index.dtype.kind not in "iu" or index.ndim > 1:
        raise ArgumentError(f"index is a list of integers, got a tensor of rank {index.ndim} of {index.dtype}")
    x, picked = self.reshape(self.shape or (1,)), index.reshape(-1)
    wrong = picked[(picked < 0) | (picked >= x.shape[dim])]
    if wrong.size:
        raise ArgumentError(f"index is from 0 to {x.shape[dim] - 1}, got {wrong[0]}")
    if not self.ndim and picked.size != 1:
        raise ArgumentError(f"index has one element for a tensor of rank 0, got {picked.size}")
    found = np.take(x, picked, dim)
    return found if self.ndim else found.reshape(())


def constant_pad_nd(given: Given) -> Array:
    """Return a tensor with room around it; a negative size cuts off."""
    self, pad, value = given.tensor("self"), given.integers("pad"), given.number("value")
    if len(pad) % 2 or len(pad) > 2 * self.ndim:
        raise ArgumentError(f"pad has pairs for at most {self.ndim} axes, got {len(pad)} numbers")
    pairs = [(0, 0)] * (self.ndim - len(pad) // 2) + [(pad[k], pad[k + 1]) for k in range(len(pad) - 2, -1, -2)]
    sizes = [size + before + after for size, (before, after) in zip(self.shape, pairs, strict=True)]
    if any(size < 0 for size in sizes):
        raise ArgumentError(f"pad leaves a size of {min(sizes)}")
    if any(size < max(0, -a) + max(0, -b) for size, (a, b) in zip(self.shape, pairs, strict=True)):
        raise ArgumentError(f"pad cuts off more than the shape {self.shape} has, got {pad}")
    result = np.full(sizes, fitting(value, self.dtype), self.dtype)
    source = tuple(slice(max(0, -a), size - max(0, -b)) for size, (a, b) in zip(self.shape, pairs, strict=True))
    target = tuple(slice(max(0, a), size - max(0, b)) for size, (a, b) in zip(sizes, pairs, strict=True))
    result[target] = self[source]
    return result


_EQUATION = re.compile(r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*")


def einsum(given: Given) -> Array:
    """Return a sum of products: "ij,jk->ik" names the axes."""
    equation, tensors = given.text("equation"), given.tensors("tensors")
    plain = equation.replace(" ", "")
    inputs, arrow, output = plain.partition("->")
    parts = [*inputs.split(","), *([output] if arrow else [])]
    if not all(_EQUATION.fullmatch(part) for part in parts):
        raise ArgumentError(f"equation has letters, commas and one arrow, got {equation!r}")
    if len(parts) - bool(arrow) != len(tensors):
        raise ArgumentError(f"equation names {len(parts) - bool(arrow)} tensors, got {len(tensors)}")
    dtype = promoted(*tensors)
    try:
        found = np.einsum(plain, *(item.astype(dtype) for item in tensors), optimize=len(tensors) > 2)
    except ValueError as error:
        raise ArgumentError(f"equation {equation!r} does not fit the tensors: {error}") from None
    return np.asarray(found).astype(dtype)
