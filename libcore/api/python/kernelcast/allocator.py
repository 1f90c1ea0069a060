"""Memory as PyTorch's caching allocator takes it from the driver: what nvidia-smi shows beside the context.

Source: c10/cuda/CUDACachingAllocator.cpp with its default settings: sizes in multiples of 512 bytes, the smallest free block
that is large enough, segments of 2 MiB for up to 1 MiB, of 20 MiB for less than 10 MiB, else of the size in multiples of
2 MiB; what is left of a block is split off where it is worth it, and free neighbours are merged. Limits: one stream; no
memory goes back to the driver, as none does before it is short.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

_MIB = 1 << 20


@dataclass
class _Block:
    address: int
    size: int
    small: bool
    free: bool = True
    before: _Block | None = None  # neighbours within a segment
    after: _Block | None = None


class Allocator:
    def __init__(self):
        self.allocated = self.peak = self.reserved = 0  # bytes
        self._free: dict[bool, list[tuple[int, int]]] = {True: [], False: []}  # size and address, of small ones and others
        self._blocks: dict[int, _Block] = {}

    def allocate(self, size: int) -> int:
        """Its address."""
        size = max(512, -(-size // 512) * 512)
        small = size <= _MIB
        free = self._free[small]
        at = bisect.bisect_left(free, (size, -1))
        if at < len(free):
            block = self._blocks[free.pop(at)[1]]
        else:
            block = self._segment(size, small)
        rest = block.size - size
        if rest >= 512 if small else rest > _MIB:
            after = _Block(block.address + size, rest, small, True, block, block.after)
            if block.after:
                block.after.before = after
            block.after, block.size = after, size
            self._blocks[after.address] = after
            self._put(after)
        block.free = False
        self.allocated += block.size
        self.peak = max(self.peak, self.allocated)
        return block.address

    def release(self, address: int) -> None:
        block = self._blocks[address]
        self.allocated -= block.size
        block.free = True
        if block.before and block.before.free:
            block = self._merged(block.before, block)
        if block.after and block.after.free:
            block = self._merged(block, block.after)
        self._put(block)

    def _segment(self, size: int, small: bool) -> _Block:
        whole = 2 * _MIB if small else 20 * _MIB if size < 10 * _MIB else -(-size // (2 * _MIB)) * 2 * _MIB
        block = _Block(self.reserved, whole, small)
        self.reserved += whole
        self._blocks[block.address] = block
        return block

    def _put(self, block: _Block) -> None:
        bisect.insort(self._free[block.small], (block.size, block.address))

    def _take(self, block: _Block) -> None:
        free = self._free[block.small]
        at = bisect.bisect_left(free, (block.size, block.address))
        if at < len(free) and free[at] == (block.size, block.address):
            free.pop(at)

    def _merged(self, first: _Block, second: _Block) -> _Block:
        self._take(first)
        self._take(second)
        first.size += second.size
        first.after = second.after
        if second.after:
            second.after.before = first
        del self._blocks[second.address]
        return first
