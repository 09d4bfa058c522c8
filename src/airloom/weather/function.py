"""Wind laws that users write: an ordinary Python function, or a kernel.

A function `wind(t, position)` is compiled if Numba can, and is then called as any other law. If not, the compiled loop
calls Python through a pointer, at the same times and places, so that vehicles and drops feel it all the same; that
takes a few microseconds each.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from airloom.basics.text import sound
from airloom.compiled import Kernel
from airloom.plugin import PluginError, function_in, line_in
from airloom.scenario import weather as models
from airloom.scenario.values import FASTEST_WIND
from airloom.scenario.weather import WeatherError
from airloom.weather.air import LAW, wind_law
from airloom.weather.law import Law, Surroundings
from airloom.weather.patience import Patience

CALLBACK = ctypes.CFUNCTYPE(None, *[ctypes.c_double] * 4, ctypes.POINTER(ctypes.c_double))


def _call_back(typing_context, address, t, x, y, z, place):
    def generate(context, builder, _, values):
        number = ir.DoubleType()
        kind = ir.FunctionType(ir.VoidType(), [number] * 4 + [number.as_pointer()])
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [*values[1:5], builder.inttoptr(values[5], number.as_pointer())])
        return context.get_dummy_value()

    return types.void(types.intp, *[types.float64] * 4, types.intp), generate


call_back: Any = intrinsic(_call_back)


@wind_law
def ask_python(t, x, y, z, h, p, v):
    """p: the address of a function of C's kind, which adds to v."""
    call_back(int(p[0]), t, x, y, z, v.ctypes.data)


class FunctionLaw(Law):
    def __init__(self, layer: models.Function, around: Surroundings) -> None:
        self._name, self._told, self._patience = layer.function, False, Patience(layer.function)
        try:
            self._function: Any = function_in(layer.function)
        except PluginError as error:
            raise WeatherError(str(error)) from None
        self.numbers = np.array(layer.numbers, dtype=float)
        self.is_compiled = True
        self._failure: str | None = None
        if isinstance(self._function, Kernel):
            self._take_kernel()
        elif callable(self._function):
            self._take_function(around)
        else:
            raise WeatherError(f"{self._name} is neither a function nor a kernel of kind wind_law")

    def _take_kernel(self) -> None:
        if not self._function.is_of(LAW):
            raise WeatherError(f"{self._name} is a kernel of another kind; make it with airloom.kernels.wind_law")
        self.kernel = self._function
        self._compile()

    def _take_function(self, around: Surroundings) -> None:
        self._try_at(0.0, (0.0, 0.0, around.land.height(0.0, 0.0) + 1.0))
        users = numba.njit(nogil=True, error_model="numpy")
        law = _adding(users(self._function))
        self.kernel = Kernel(law, LAW, users(law))
        try:
            self._compile()
        except Exception as error:  # Numba raises many kinds
            self.is_compiled, self._why_python = False, _gist(error)
            self.kernel, self._callback = ask_python, CALLBACK(self._answer)
            self.numbers = np.array([float(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)])

    def _compile(self) -> None:
        with self._patience("is being compiled"):
            assert self.kernel.address

    def _try_at(self, t: float, position: tuple[float, float, float]) -> None:
        with self._patience("is being called for the first time"):
            why = self._wrong(t, position)
        if why is not None:
            raise WeatherError(why)

    def _wrong(self, t: float, position: tuple[float, float, float]) -> str | None:
        """What a call at a time and place gives instead of three numbers."""
        try:
            _three_numbers(self._function(t, position))
        except Exception as error:
            return self._described(error, t, position)
        return None

    def _described(self, error: Exception, t: float, position: tuple[float, float, float]) -> str:
        file, _, name = self._name.partition(":")
        code = getattr(self._function, "__code__", None)
        line = line_in(Path(file).resolve(), error) or (code.co_firstlineno if code else None)
        kind = "" if isinstance(error, WeatherError) else f"{type(error).__name__}: "
        place = ", ".join(f"{x:.4g}" for x in position)
        return f"{file}, line {line}: {name}({t:.4g}, ({place})): {kind}{sound(str(error))}"

    def _answer(self, t: float, x: float, y: float, z: float, v: Any) -> None:
        """From within the compiled loop. What is raised here would be lost, so it is kept until the loop pauses."""
        if self._failure is not None:
            v[0] = nan
            return
        try:
            with self._patience(f"is being called for t = {t:.4g} s"):
                wind = _three_numbers(self._function(t, (x, y, z)))
        except Exception as error:
            self._failure = self._described(error, t, (x, y, z))
            v[0] = nan
            return
        v[0] += wind[0]
        v[1] += wind[1]
        v[2] += wind[2]

    def begin(self, key: int) -> None:
        self._failure, self._told = None, False

    def why_not(self, time: float, position: tuple[float, float, float]) -> str:
        if self._failure is None and isinstance(self._function, Kernel):
            return f"{self._name} gives no number, or more than {FASTEST_WIND:g} m/s"
        return self._failure or self._wrong(time, position) or f"{self._name} gives no number once it is compiled"

    def complaint(self) -> str | None:
        if self.is_compiled or self._told:
            return None
        self._told = True
        return (
            f"{self._name} cannot be compiled and is called from Python, which takes longer: {self._why_python}; "
            "the loop waits for each call"
        )


def _gist(error: Exception) -> str:
    """What Numba could not compile, without the steps that it came through and without its colours."""
    plain = re.sub(r"\x1b\[\d*m", "", str(error))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Failed in")), type(error).__name__)


def _three_numbers(given: Any) -> tuple[float, float, float]:
    try:
        x, y, z = (float(number) for number in given)
    except (TypeError, ValueError):
        raise WeatherError(f"must give three numbers, east, north and up in m/s, got {given!r}") from None
    if not np.isfinite([x, y, z]).all():
        raise WeatherError(f"must give finite numbers, got {given!r}")
    if max(abs(x), abs(y), abs(z)) > FASTEST_WIND:
        raise WeatherError(f"must give at most {FASTEST_WIND:g} m/s, got {given!r}")
    return x, y, z


def _adding(function: Any) -> Callable[..., None]:
    def law(t, x, y, z, h, p, v):
        try:
            wind = function(t, (x, y, z))
            v[0] += wind[0]
            v[1] += wind[1]
            v[2] += wind[2]
        except Exception:
            v[0] = nan

    return law
