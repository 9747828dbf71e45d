"""Array memory that other libraries can share without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_ALIGNMENT = 64


def is_aligned(array: npt.NDArray[Any]) -> bool:
    """Returns whether an array is aligned and contiguous."""
    address: int = array.__array_interface__["data"][0]
    return address % _ALIGNMENT == 0 and array.flags.c_contiguous


def as_writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array over the same memory that numpy considers writable."""
    return np.asarray(_Writable(array))


class _Writable:
    """Holds an array and describes its memory as writable."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        interface: dict[str, Any] = array.__array_interface__
        address, _ = interface["data"]
        self.__array_interface__ = {**interface, "data": (address, False)}
