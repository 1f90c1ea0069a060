"""Records without pandas, and which of their columns are text."""

import csv
import io
import unittest

from checks import main, program
from kernelcast import records

PROGRAMS = """
    akemu devprobe execcost flux-count kernelcast-advise mangrove miniemu partfit partsim perdome perfcast rank seqprof
""".split()
VERBS = ["choose", "devices", "submit"]  # of kernelcast


class Columns(unittest.TestCase):
    def test_text_columns_are_those_without_a_unit(self):
        text, numbers = set(), set()
        for command in [[name] for name in PROGRAMS] + [["kernelcast", verb] for verb in VERBS]:
            for row in csv.DictReader(io.StringIO(program(*command, "--columns"))):
                (numbers if row["unit"] else text).add(row["name"])
        self.assertEqual(sorted(text - numbers - records.TEXT_COLUMNS), [], "not in records.TEXT_COLUMNS")
        self.assertEqual(sorted(records.TEXT_COLUMNS & numbers), [], "numbers in records.TEXT_COLUMNS")


class Rows(unittest.TestCase):
    def test_types(self):
        text = "kernel,case,launches,spread_pct,inst_total\n64,1e3,2,,1.5\n"
        expected = {"kernel": "64", "case": "1e3", "launches": 2, "spread_pct": None, "inst_total": 1.5}
        self.assertEqual(records.rows(text), [expected])


if __name__ == "__main__":
    main()
