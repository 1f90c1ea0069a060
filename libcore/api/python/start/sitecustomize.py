"""First on the path of Python programs that run on the emulator (kernelcast choose, miniemu --attach). Once torch is
imported, its own kernels, which are machine code, are what the CPU does (kernelcast.torch_device); Warp, whose compiler
is linked into it, is asked for PTX; JAX finds its GPU, and the
assembler that keeps PTX. All else stays as it is: a sitecustomize of the user's runs, too.
"""

import atexit
import importlib.abc
import importlib.machinery
import importlib.util
import os
import shutil
import sys
import tempfile

_HERE = os.path.dirname(os.path.realpath(__file__))


def _device_of_torch(torch) -> None:
    place = os.path.dirname(_HERE)
    sys.path.insert(0, place)
    try:
        from kernelcast import torch_device

        torch_device.start()
    except Exception as error:  # the program goes on, as far as it comes
        print(f"kernelcast: this PyTorch's own kernels do not run on the emulator: {error}", file=sys.stderr)
    finally:
        sys.path.remove(place)


def _ptx_of_warp(warp) -> None:
    if getattr(warp.config, "cuda_output", "") is None:
        warp.config.cuda_output = "ptx"


def _gpu_of_jax(hardware) -> None:
    hardware.has_visible_nvidia_gpu = lambda: True  # it looks for /dev/nvidia0


def _ptxas_of_jax(library) -> None:
    """In a folder as CUDA's, beside what its compiler reads there."""
    folder = tempfile.mkdtemp(prefix="kernelcast-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.mkdir(os.path.join(folder, "bin"))
    os.symlink(os.environ["TRITON_PTXAS_PATH"], os.path.join(folder, "bin", "ptxas"))
    if library.cuda_path and os.path.isdir(os.path.join(library.cuda_path, "nvvm")):
        os.symlink(os.path.join(library.cuda_path, "nvvm"), os.path.join(folder, "nvvm"))
    library.cuda_path = folder
    # XLA would time candidates, by the clock of the emulator.
    os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0 " + os.environ.get("XLA_FLAGS", "")


class _After(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module as others do, and calls `then` once it has been loaded."""

    def __init__(self, module, then):
        self._module, self._then = module, then

    def find_spec(self, name, path, target=None):
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)  # there may be one later
            return spec
        self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then(module)


def _next_sitecustomize() -> None:
    others = [place for place in sys.path if os.path.realpath(place or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path[:0] = [
    _After("torch", _device_of_torch),
    _After("warp", _ptx_of_warp),
    _After("jax._src.hardware_utils", _gpu_of_jax),
    _After("jax._src.lib", _ptxas_of_jax),
]
_next_sitecustomize()
