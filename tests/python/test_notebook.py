"""The example notebook runs, and is kept without its outputs."""

import os
import unittest

from checks import BESIDE, HAS_CLANG, main, skip

try:
    import nbformat
    from nbclient import NotebookClient
except ImportError as error:
    skip(error)

PATH = os.path.join(BESIDE, "..", "..", "libcore", "api", "examples", "kernelcast.ipynb")


class Notebook(unittest.TestCase):
    def setUp(self):
        self.notebook = nbformat.read(PATH, as_version=4)
        self.cells = [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    def test_it_has_no_outputs(self):
        for cell in self.cells:
            self.assertEqual((cell.outputs, cell.execution_count), ([], None))

    def test_it_runs(self):
        NotebookClient(self.notebook, kernel_name="python3", timeout=600).execute()
        texts = ["".join(o.get("text", o.get("data", {}).get("text/plain", "")) for o in c.outputs) for c in self.cells]
        self.assertTrue(all(texts), texts)
        self.assertIn("Projection(device=", texts[1])
        self.assertIn("global load of 4 bytes at offset", texts[-1])


if __name__ == "__main__":
    if not HAS_CLANG:
        skip("no clang-19")
    main()
