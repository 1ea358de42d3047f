"""Machine code that is kept on disk: to load it takes no compiler, which is dear to import.

A function of `kernels` or `share` calls nothing but what the C library has, so that its code is
good for any process on such a machine. A file is the SHA-256 of the code, and the code: an object
file of the system. What was cut off or altered is as if it were not there.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import os
import shutil
import tempfile
from pathlib import Path

import platformdirs
from llvmlite import binding

__all__ = ["emitted", "folder", "is_used", "linked", "read", "write"]

SOURCES = ("bfloat16", "kernels", "plan", "share", "vectors")
"""The modules of this package that code is made from."""
LIBRARIES = ("llvmlite", "numba", "numpy")
"""Of whose versions it depends, and whether it can be made at all."""
MOST = 8
"""How many folders are kept: one for each machine, version and source."""
_DIGEST = 32  # bytes


@functools.cache
def folder() -> Path:
    """Return where code is kept that is made from this source, by these versions, for this machine.

    It need not be there, and cannot where a user has no folder of their own.
    """
    made = hashlib.sha256()
    for name in SOURCES:
        made.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    features = binding.get_host_cpu_features().flatten()
    able = binding.get_process_triple(), binding.get_host_cpu_name(), features
    for told in (*able, *map(_version, LIBRARIES)):
        made.update(f"\n{told}".encode())
    base = platformdirs.user_cache_path("ropespec")
    if not base.is_absolute():  # nobody has a home here, and what lies about is not trusted
        base = Path(os.devnull)
    return base / "kernels" / made.hexdigest()[:16]


def is_used() -> bool:
    """Tell whether anything is kept there: then it could be made, and can be again."""
    with contextlib.suppress(OSError):
        return any(folder().glob("*.o"))
    return False


def _version(library: str) -> str:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(library)
    return ""


def read(name: str) -> bytes | None:
    """Return the code of a function, or None if there is none that is whole."""
    try:
        data = (folder() / f"{name}.o").read_bytes()
    except OSError:
        return None
    digest, code = data[:_DIGEST], data[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def write(name: str, code: bytes) -> None:
    """Keep the code of a function, where that is possible; what is oldest of others' goes."""
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        descriptor, file = tempfile.mkstemp(dir=folder())
        try:
            with os.fdopen(descriptor, "wb") as out:
                out.write(hashlib.sha256(code).digest() + code)
            Path(file).replace(folder() / f"{name}.o")  # whole, or not at all
        except OSError:
            Path(file).unlink()
            raise
        for old in sorted(folder().parent.iterdir(), key=os.path.getmtime)[:-MOST]:
            shutil.rmtree(old, ignore_errors=True)


def emitted(name: str, text: str, symbol: str) -> bytes:
    """Return the code of a function whose module is given in the language of LLVM.

    Parameters
    ----------
    name : str
        What it is called in the code.
    text, symbol : str
        The module, optimized, and what the function is called in it.
    """
    module = binding.parse_assembly(text)
    module.get_function(symbol).name = name
    code: bytes = _target().emit_object(module)
    return code


_engines: list[binding.ExecutionEngine] = []


def linked(name: str, code: bytes) -> int:
    """Return the address of a function, whose code stays in memory from now on."""
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    address: int = engine.get_function_address(name)
    return address


def _target() -> binding.TargetMachine:
    """Return what makes code for this machine, with the choices of Numba."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        reloc="static" if target.name.startswith("x86") else "default",
        codemodel="jitdefault",
        jit=True,
    )
