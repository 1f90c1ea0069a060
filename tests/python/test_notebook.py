"""The example notebooks run, and are kept without their outputs."""

import importlib.util
import os
import unittest

from checks import BESIDE, HAS_CLANG, main, skip

try:
    import nbformat
    from nbclient import NotebookClient
except ImportError as error:
    skip(error)

PLACE = os.path.join(BESIDE, "..", "..", "libcore", "api", "examples")


class Notebooks(unittest.TestCase):
    def texts(self, name, *packages):
        """What its cells of code print and return."""
        notebook = nbformat.read(os.path.join(PLACE, name), as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell in cells:
            self.assertEqual((cell.outputs, cell.execution_count), ([], None))
        for package in packages:
            if importlib.util.find_spec(package) is None:
                self.skipTest(f"no {package}")
        NotebookClient(notebook, kernel_name="python3", timeout=600).execute()
        return ["".join(o.get("text", o.get("data", {}).get("text/plain", "")) for o in c.outputs) for c in cells]

    @unittest.skipUnless(HAS_CLANG, "no clang-19")
    def test_of_a_kernel(self):
        texts = self.texts("kernelcast.ipynb")
        self.assertTrue(all(texts), texts)
        self.assertIn("Projection(device=", texts[1])
        self.assertIn("global load of 4 bytes at offset", texts[-1])

    def test_of_a_kernel_of_triton(self):
        texts = self.texts("triton.ipynb", "triton")
        self.assertTrue(all(texts), texts)
        self.assertIn("decided", texts[2])
        self.assertEqual(len(texts[3].splitlines()), 7)  # one for each number of warps

    def test_of_a_model_of_pytorch(self):
        texts = self.texts("pytorch.ipynb", "torch", "triton")
        self.assertTrue(all(texts), texts)
        self.assertIn("fastest:", texts[0])
        eager, compiled = zip(*(line.split()[1:] for line in texts[-1].splitlines()[1:]))
        for a, b in zip(eager, compiled):
            self.assertLess(float(b), float(a))


if __name__ == "__main__":
    main()
