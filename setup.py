"""Builds the native kernel; everything else about the package is in pyproject.toml.

Environment switches (1 turns one on):
  TFRECORD_BEAM_NO_NATIVE: leaves the extension out; the reference kernel serves.
  TFRECORD_BEAM_SANITIZE: builds it with AddressSanitizer and UndefinedBehaviorSanitizer.
  TFRECORD_BEAM_WERROR: adds -Wconversion and makes every warning an error.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from glob import glob

import pybind11
from pybind11.setup_helpers import ParallelCompile, Pybind11Extension
from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, CompileError, ExecError, PlatformError
from setuptools.extension import Extension

NATIVE = "tfrecord_beam/kernel/native"


def is_on(switch: str) -> bool:
    return os.environ.get(f"TFRECORD_BEAM_{switch}", "0") not in ("", "0")


def choose_flags() -> tuple[list[str], list[str]]:
    """Returns the flags to compile and to link with, beyond those that Pybind11Extension sets."""
    if sys.platform == "win32":
        return ["/O2", "/W3"], []
    compile_flags = ["-O3", "-Wall", "-Wextra"]
    link_flags: list[str] = []
    if is_on("WERROR"):
        compile_flags += ["-Wconversion", "-Werror"]
        # Headers of others may warn; a folder given by -isystem wins over the same one by -I.
        for folder in (pybind11.get_include(), sysconfig.get_path("include")):
            compile_flags += ["-isystem", folder]
    if is_on("SANITIZE"):
        sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        compile_flags += [*sanitize, "-O1", "-g", "-fno-omit-frame-pointer"]
        link_flags += sanitize
    return compile_flags, link_flags


def list_extensions() -> list[Extension]:
    if is_on("NO_NATIVE"):
        return []
    compile_flags, link_flags = choose_flags()
    return [
        Pybind11Extension(
            "tfrecord_beam.kernel._native",
            sources=sorted(glob(f"{NATIVE}/*.cc")),
            depends=sorted(glob(f"{NATIVE}/*.h")),
            include_dirs=[NATIVE],
            cxx_std=17,
            extra_compile_args=compile_flags,
            extra_link_args=link_flags,
        )
    ]


class BuildNativeKernel(build_ext):
    """Says what to do when the extension cannot be built, instead of installing without it."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except (CCompilerError, ExecError, PlatformError) as error:
            raise CompileError(
                f"Expected a C++17 compiler for {ext.name}, found: {error} (install one, or set "
                "TFRECORD_BEAM_NO_NATIVE=1 for an install that is hundreds of times slower)"
            ) from error


ParallelCompile(default=os.cpu_count() or 1).install()
setup(
    ext_modules=list_extensions(),
    cmdclass={"build_ext": BuildNativeKernel},
    # An object file does not tell with which switches it was built.
    options={"build_ext": {"force": True}},
)
