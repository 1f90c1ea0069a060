"""PyTorch's caching allocator: sizes that its source has, and random requests beside what must hold of any allocator."""

import random
import unittest

from checks import main

from kernelcast.allocator import Allocator

MIB = 1 << 20


class Sizes(unittest.TestCase):
    def reserved(self, *sizes):
        allocator = Allocator()
        for size in sizes:
            allocator.allocate(size)
        return allocator.reserved, allocator.allocated

    def test_segments(self):
        self.assertEqual(self.reserved(1), (2 * MIB, 512))
        self.assertEqual(self.reserved(513, 1000), (2 * MIB, 2048))
        self.assertEqual(self.reserved(MIB, MIB), (2 * MIB, 2 * MIB))
        self.assertEqual(self.reserved(MIB, MIB, 1), (4 * MIB, 2 * MIB + 512))
        self.assertEqual(self.reserved(MIB + 1), (20 * MIB, MIB + 512))
        self.assertEqual(self.reserved(10 * MIB), (10 * MIB, 10 * MIB))
        self.assertEqual(self.reserved(11 * MIB + 1), (12 * MIB, 12 * MIB))  # too little is left to be split off

    def test_what_is_free_serves_again(self):
        allocator = Allocator()
        first, second = allocator.allocate(12 * MIB), allocator.allocate(14 * MIB)
        allocator.allocate(1)
        allocator.release(first)
        allocator.release(second)
        self.assertEqual(allocator.allocate(11 * MIB), first)  # the smallest that is large enough, whole
        self.assertEqual(allocator.allocate(13 * MIB), second)
        self.assertEqual(allocator.reserved, 28 * MIB)

    def test_neighbours_are_merged(self):
        allocator = Allocator()
        parts = [allocator.allocate(5 * MIB) for _ in range(4)]
        self.assertEqual(allocator.reserved, 20 * MIB)
        for part in (parts[0], parts[2], parts[1], parts[3]):
            allocator.release(part)
        self.assertEqual(allocator.allocate(20 * MIB), parts[0])
        self.assertEqual(allocator.reserved, 20 * MIB)


class Requests(unittest.TestCase):
    def test_random(self):
        for seed in range(20):
            chance = random.Random(seed)
            allocator, live = Allocator(), {}
            for _ in range(2000):
                if live and chance.random() < 0.48:
                    address = chance.choice(list(live))
                    del live[address]
                    allocator.release(address)
                else:
                    size = int(2 ** chance.uniform(0, 26))
                    live[allocator.allocate(size)] = size
                self.assertLessEqual(sum(live.values()), allocator.allocated)
                self.assertLessEqual(allocator.peak, allocator.reserved)
            ends = 0
            for address, size in sorted(live.items()):
                self.assertLessEqual(ends, address)
                ends = address + size
            self.assertLessEqual(ends, allocator.reserved)
            for address in live:
                allocator.release(address)
            self.assertEqual(allocator.allocated, 0)
            blocks = sum(size for pool in allocator._free.values() for size, _ in pool)
            self.assertEqual(blocks, allocator.reserved)


if __name__ == "__main__":
    main()
