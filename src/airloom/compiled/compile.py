"""How Airloom compiles: one decorator, one cache, and calls by address.

`@compiled` turns a small function into machine code with Numba. Kernels that a scenario chooses
(sensors, estimators, controllers, force functions) are handed to the compiled loop as addresses, so that
the loop itself is compiled once, and a user's kernel runs at the same speed as a built-in one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import platformdirs
from llvmlite import ir
from numba import types
from numba.core.cpu import CPUTargetOptions
from numba.core.options import TargetOptions
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from airloom.compiled.cache import cached

HERE = Path(__file__).parent
PACKAGE = HERE.parent
COMMANDS = PACKAGE / "commands.py"
_HAS_COMPILED_CODE = re.compile(
    rb"^@(compiled|\w*_kernel|\w*_law|effect|ticker)|types\.void\(|numba\.njit", re.MULTILINE
)

# Lane loops must reach LLVM's loop vectoriser whole. Left to itself LLVM unrolls eight iterations first and then
# finds no vectors, and it must assume that two arrays overlap. Together: 3.9 → 8 M vehicle-steps/s.
llvmlite.binding.set_option("airloom", "-unroll-full-max-count=4")
CPUTargetOptions.noalias = TargetOptions.Mapping("noalias")


STALE_AFTER = 7 * 24 * 3600.0  # s without use, after which the machine code of other versions is deleted


def _sources_digest() -> str:
    """Numba only looks at the file of the outermost function; this key covers whatever it inlines.

    It covers every file with compiled functions or their signatures, the rows and tables they work on, and the
    commands, whose layout is compiled in.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(PACKAGE.rglob("*.py"), key=str):
        text = path.read_bytes()
        if path.parent == HERE or path == COMMANDS or _HAS_COMPILED_CODE.search(text):
            digest.update(text)
    return digest.hexdigest()


def _use_own_cache() -> None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    root = Path(platformdirs.user_cache_dir("airloom")) / "compiled"
    folder = root / _sources_digest()
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    with suppress(OSError):  # of a disk that is full, or may only be read
        if folder.exists():
            folder.touch()
            return
        for other in root.glob("*"):
            if time.time() - other.stat().st_mtime > STALE_AFTER:
                shutil.rmtree(other, ignore_errors=True)


_use_own_cache()


def cache_folder() -> Path:
    """Where machine code is kept."""
    return Path(getattr(numba.config, "CACHE_DIR", ""))


def compiled(function: Callable[..., Any]) -> Any:
    """Compile for the inner loop: cached on disk, no GIL, IEEE arithmetic without exceptions.

    Array arguments must not overlap one another, and nothing is allocated inside, so references need not be counted
    (a view would cost 15 ns). No fastmath: a vehicle's result must not depend on its lane
    or on how many fly beside it.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "noalias": True, "_nrt": False}
    return cached(numba.njit(**options)(function))


class Kernel:
    """A compiled function of a fixed signature that the loop calls by its address."""

    def __init__(self, function: Callable[..., Any], signature: Any, dispatcher: Any = None) -> None:
        """With a dispatcher of Numba's if the function needs other options than ours."""
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self._signature = signature
        self._dispatcher = dispatcher or compiled(function)
        self._address = 0

    @property
    def address(self) -> int:
        """Where the machine code lies; compiles, or loads from the cache, on first use."""
        if not self._address:
            result = self._dispatcher.get_compile_result(self._signature)
            self._address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        return self._address

    def is_of(self, signature: Any) -> bool:
        return self._signature == signature

    def __call__(self, *args: Any) -> Any:
        return self._dispatcher(*args)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


def _array_at(kind: Any) -> Any:
    array_type, size = types.Array(kind, 1, "C"), kind.bitwidth // 8

    def at(typing_context: Any, address: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            array, step = make_array(array_type)(context, builder), context.get_constant(types.intp, size)
            data = builder.inttoptr(values[0], context.get_data_type(kind).as_pointer())
            populate_array(array, data=data, shape=[values[1]], strides=[step], itemsize=step, meminfo=None)
            return array._getvalue()

        return array_type(types.intp, types.intp), generate

    return intrinsic(at)


numbers_at: Any = _array_at(types.float64)
"""Compiled `numbers_at(address, count)`: the array of numbers there, which somebody else must keep alive."""
integers_at: Any = _array_at(types.int64)
singles_at: Any = _array_at(types.float32)
bytes_at: Any = _array_at(types.uint8)


def call_by_address(signature: Any) -> Any:
    """A compiled function `call(address, *args)` for kernels of `signature`."""

    @intrinsic
    def call(typing_context: Any, address: Any, *args: Any) -> Any:
        arguments = signature.args

        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            pointer_type = context.call_conv.get_function_type(types.none, arguments).as_pointer()
            pointer = builder.inttoptr(values[0], pointer_type)
            packed = [builder.extract_value(values[1], i) for i in range(len(arguments))]
            context.call_conv.call_function(builder, pointer, types.none, arguments, packed)
            return ir.Constant(ir.IntType(8).as_pointer(), None)

        return types.void(types.intp, types.StarArgTuple(arguments)), generate

    return call
