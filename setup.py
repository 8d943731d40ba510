"""The build: what pyproject.toml cannot say, namely whether the codec is compiled.

AMFGATE_EXTENSIONS, the variable that also chooses the codec when amfgate is imported, decides:

    auto     compile; where that fails say so, and build a pure wheel (the default)
    require  compile; where that fails the build fails
    off      do not compile: a pure wheel

AMFGATE_SANITIZE=1 compiles with AddressSanitizer and UndefinedBehaviorSanitizer, for `make sanitize`.

`Extension(optional=True)` is not used: with a failing compiler it leaves a wheel that is tagged for this platform and
holds no extension, and it may leave one twin of two.  Encoder and decoder are built together or not at all.
Wheels are for one version of Python each: the limited API makes a serializer several times slower.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

MODES = ("auto", "require", "off")
mode = os.environ.get("AMFGATE_EXTENSIONS", "auto")
if mode not in MODES:
    sys.exit(f"AMFGATE_EXTENSIONS is one of {', '.join(MODES)}, not {mode!r}")
SANITIZERS = ["-fsanitize=address,undefined"]
sanitize = os.environ.get("AMFGATE_SANITIZE", "0") not in ("", "0")


def compiler_flags() -> list[str]:
    """Flags for the C compiler: those of CFLAGS win, Microsoft's compiler keeps its own."""
    if sanitize:
        return [*SANITIZERS, "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g", "-O1"]
    if os.name == "nt" or "-O" in os.environ.get("CFLAGS", ""):
        return []
    # What is called most is CPython, in another shared object: without the procedure linkage table, 1 to 3 % less time.
    return ["-O3", "-g0", *(["-fno-plt"] if sys.platform == "linux" else [])]


def extensions() -> list[Extension]:
    """Both twins, as Cython sources; none when the build is to be pure."""
    if mode == "off":
        return []
    return [
        Extension(
            f"amfgate.{name}",
            [f"src/amfgate/{name}.pyx"],
            extra_compile_args=compiler_flags(),
            extra_link_args=SANITIZERS if sanitize else [],
        )
        for name in ("_encoder", "_decoder")
    ]


class BuildTwins(build_ext):
    """Compile both twins at once; when one of them fails and need not succeed, build without either."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        # Everything may fail here: no Cython, no compiler, no Python.h, a compiler that crashes.
        try:
            self.translate()
            super().run()
        except Exception as error:
            if mode == "require":
                raise
            self.build_without(error)

    def translate(self) -> None:
        """Have Cython write its C beside the other products of the build, not among the sources."""
        from Cython.Build import cythonize

        translated = cythonize(self.extensions, build_dir="build/cython")
        for extension, in_c in zip(self.extensions, translated, strict=True):
            extension.sources = in_c.sources

    def build_without(self, error: Exception) -> None:
        """Remove what was built, now or earlier, and have the wheel tagged as the pure one that it is."""
        for extension in self.extensions:
            places = [self.get_ext_fullpath(extension.name)]
            if self.editable_mode:
                places.append(os.path.join("src", self.get_ext_filename(extension.name)))
            for place in places:
                Path(place).unlink(missing_ok=True)
        self.extensions = []
        self.distribution.ext_modules = []
        wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
        if wheel is not None:
            wheel.root_is_pure = True
        print(
            f"amfgate: the codec was not compiled ({type(error).__name__}: {error}).\n"
            "amfgate: building without; the Python codec does the same, many times slower. "
            "AMFGATE_EXTENSIONS=require makes this an error.",
            file=sys.stderr,
        )


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildTwins},
    options={"build": {"build_base": "build/sanitize"}} if sanitize else {},
)
