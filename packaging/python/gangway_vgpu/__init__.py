"""Gangway's virtual GPU: a CUDA driver library that runs GPU code on the CPU.

A program gets it in one of two ways::

    python -m gangway_vgpu pytest tests        # from outside, with nothing changed
    import gangway_vgpu; gangway_vgpu.load()   # from inside, before the first CUDA call

The library is ``libcuda.so.1``. No GPU and no software of NVIDIA's is needed for it.
"""

import ctypes
import os
from importlib.metadata import version as _version

__all__ = ["environment", "folder", "library", "load"]
__version__ = _version("gangway-vgpu")


def folder() -> str:
    """The folder to put in front of ``LD_LIBRARY_PATH``."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "driver")


def library() -> str:
    """The driver library."""
    return os.path.join(folder(), "libcuda.so.1")


def environment(base=None) -> dict:
    """A copy of ``base`` (default: ``os.environ``) in which programs get the virtual GPU."""
    changed = dict(os.environ if base is None else base)
    path = [entry for entry in changed.get("LD_LIBRARY_PATH", "").split(":") if entry not in ("", folder())]
    changed["LD_LIBRARY_PATH"] = ":".join([folder(), *path])
    return changed


def load() -> ctypes.CDLL:
    """Loads the driver into this process, where ``libcuda.so.1`` then means this library.

    Raises ``RuntimeError`` if another ``libcuda.so.1`` is loaded already: the dynamic loader
    keeps the first.
    """
    for other in _loaded_drivers() - {os.path.realpath(library())}:
        raise RuntimeError(f"{other} is loaded already; call gangway_vgpu.load() before anything uses CUDA")
    return ctypes.CDLL(library(), mode=ctypes.RTLD_GLOBAL)


def _loaded_drivers() -> set:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        files = {line.rstrip("\n").split(maxsplit=5)[-1] for line in maps}
    return {os.path.realpath(file) for file in files if os.path.basename(file).startswith("libcuda.so")}
