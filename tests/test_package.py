"""What is delivered: sdist and wheel, looked into, installed into an empty environment, and run there.

A wheel's name says little: a compiler that fails can leave one that is tagged for this platform and has nothing in it.
So these tests open the files and run what they hold.  Everything is built in copies of the tree, never in it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMPILED_HERE = os.environ.get("AMFGATE_EXTENSIONS", "auto") != "off"
EXTENSION = re.compile(r"amfgate/_(encoder|decoder)\.(cpython-|cp)\d+[^/]*\.(so|pyd)")
NOT_SHIPPED = re.compile(r"\.(pyx|pxd|pxi|c|o)$")

needs_compiler = pytest.mark.skipif(not COMPILED_HERE, reason="AMFGATE_EXTENSIONS=off: nothing is compiled here")


def run(*command: str | Path, cwd: Path, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command away from the source tree, with AMFGATE_EXTENSIONS and the like only as given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AMFGATE_", "PYTHON", "CC"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**kept, **variables}, text=True, capture_output=True, timeout=600
    )
    assert not check or done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done


def build_wheel(tree: Path, into: Path, *, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
    """`pip wheel` with this environment's setuptools and Cython; without optimising, which takes most of the time."""
    variables.setdefault("CFLAGS", "-O0")
    return run(
        *(sys.executable, "-m", "pip", "wheel", "-v", "--no-index", "--no-deps", "--no-build-isolation"),
        *("-w", into, tree),
        cwd=into.parent,
        check=check,
        **variables,
    )


def the_wheel(folder: Path) -> Path:
    wheels = list(folder.glob("*.whl"))
    assert len(wheels) == 1
    return wheels[0]


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as opened:
        return opened.namelist()


def tags_of(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith(".dist-info/WHEEL"))
        return dict(line.split(": ", 1) for line in opened.read(name).decode().splitlines() if ": " in line)


def environment_with(wheel: Path, folder: Path) -> Path:
    """The Python of a new environment that holds the wheel and nothing else, not even what the gateway needs."""
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", wheel, cwd=folder)
    return python


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, made from a copy of the tree as it stands."""
    folder = tmp_path_factory.mktemp("sdist")
    tree = folder / "tree"
    unwanted = shutil.ignore_patterns(".*", "build", "dist", "node_modules", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, tree, ignore=unwanted)
    make = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    run(sys.executable, "-c", make, folder, cwd=tree)
    (made,) = folder.glob("*.tar.gz")
    return made


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


@pytest.fixture(scope="module")
def compiled_wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled") / "wheels"
    build_wheel(unpacked, folder, AMFGATE_EXTENSIONS="require")
    return the_wheel(folder)


@pytest.fixture(scope="module")
def compiled_python(compiled_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(compiled_wheel, tmp_path_factory.mktemp("compiled-env"))


@pytest.fixture(scope="module")
def pure_wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pure") / "wheels"
    build_wheel(unpacked, folder, AMFGATE_EXTENSIONS="off")
    return the_wheel(folder)


@pytest.fixture(scope="module")
def pure_python(pure_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(pure_wheel, tmp_path_factory.mktemp("pure-env"))


@pytest.fixture
def translated(compiled_wheel: Path, unpacked: Path, tmp_path: Path) -> Path:
    """A tree in which Cython has done its part and the C compiler has not."""
    tree = tmp_path / "tree"
    shutil.copytree(unpacked, tree)
    for built in (tree / "build").glob("*.*"):
        shutil.rmtree(built)
    return tree


def test_the_sdist_holds_what_is_needed_to_build_and_to_test(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "setup.py",
        "pyproject.toml",
        "Makefile",
        "src/amfgate/__init__.py",
        "src/amfgate/_encoder_py.py",
        "src/amfgate/_decoder_py.py",
        "src/amfgate/py.typed",
        "tests/conftest.py",
        "tests/test_package.py",
        "examples/demo/app.py",
        "docs/codec.md",
    }
    if COMPILED_HERE:
        wanted |= {"src/amfgate/_encoder.pyx", "src/amfgate/_decoder.pyx"}
    assert wanted - names == set()
    assert [name for name in names if name.startswith("benchmarks/") and name.endswith(".py")]
    assert [name for name in names if name.endswith((".c", ".so", ".pyd", ".pyc")) or "node_modules" in name] == []


BOTH_WAYS = "import amfgate as a; print(a.dumps(['ab', 'ab']).hex(), a.loads(bytes.fromhex('090501060561620600')))"


@needs_compiler
def test_the_wheel_has_one_extension_for_each_twin_and_no_sources(compiled_wheel: Path) -> None:
    names = names_in(compiled_wheel)
    assert sorted(found[1] for found in map(EXTENSION.fullmatch, names) if found) == ["decoder", "encoder"]
    assert [name for name in names if NOT_SHIPPED.search(name)] == []
    assert {"amfgate/py.typed", "amfgate/_encoder_py.py", "amfgate/_decoder_py.py"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"amfgate", "amfgate-0.1.0.dist-info"}


@needs_compiler
def test_the_wheel_is_for_this_version_of_python_alone(compiled_wheel: Path) -> None:
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"amfgate-0\.1\.0-{version}-{version}-\w+\.whl", compiled_wheel.name)
    assert tags_of(compiled_wheel)["Root-Is-Purelib"] == "false"


@needs_compiler
def test_the_compiled_wheel_runs_in_an_empty_environment(compiled_python: Path, tmp_path: Path) -> None:
    said = run(compiled_python, "-m", "amfgate", cwd=tmp_path, AMFGATE_EXTENSIONS="require").stdout
    assert re.fullmatch(r"amfgate 0\.1\.0, codec: cython \(.*[/\\]_encoder\.[^/\\]*\.(so|pyd)\)\n", said)
    assert run(compiled_python, "-c", BOTH_WAYS, cwd=tmp_path).stdout == "090501060561620600 ['ab', 'ab']\n"


def test_off_gives_a_pure_wheel(pure_wheel: Path) -> None:
    assert pure_wheel.name == "amfgate-0.1.0-py3-none-any.whl"
    assert tags_of(pure_wheel)["Root-Is-Purelib"] == "true"
    names = names_in(pure_wheel)
    assert [name for name in names if NOT_SHIPPED.search(name) or name.endswith((".so", ".pyd"))] == []
    assert {"amfgate/py.typed", "amfgate/_encoder_py.py", "amfgate/_decoder_py.py"} <= set(names)


def test_the_pure_wheel_runs_in_an_empty_environment(pure_python: Path, tmp_path: Path) -> None:
    said = run(pure_python, "-m", "amfgate", cwd=tmp_path).stdout
    assert re.fullmatch(r"amfgate 0\.1\.0, codec: python \(.+\)\n", said)
    assert run(pure_python, "-c", BOTH_WAYS, cwd=tmp_path).stdout == "090501060561620600 ['ab', 'ab']\n"


@needs_compiler
def test_a_failing_compiler_leaves_a_pure_wheel_and_says_so(translated: Path, tmp_path: Path) -> None:
    done = build_wheel(translated, tmp_path / "wheels", CC="/bin/false", AMFGATE_EXTENSIONS="auto")
    assert "amfgate: the codec was not compiled (CompileError: " in done.stdout + done.stderr
    wheel = the_wheel(tmp_path / "wheels")
    assert wheel.name == "amfgate-0.1.0-py3-none-any.whl"
    assert tags_of(wheel)["Root-Is-Purelib"] == "true"
    assert [name for name in names_in(wheel) if EXTENSION.fullmatch(name)] == []
    python = environment_with(wheel, tmp_path / "env")
    assert "codec: python (" in run(python, "-m", "amfgate", cwd=tmp_path).stdout


@needs_compiler
def test_a_failing_compiler_fails_the_build_when_the_extensions_are_required(translated: Path, tmp_path: Path) -> None:
    done = build_wheel(translated, tmp_path / "wheels", check=False, CC="/bin/false", AMFGATE_EXTENSIONS="require")
    assert done.returncode != 0
    assert "/bin/false" in done.stdout + done.stderr
    assert not list(tmp_path.glob("wheels/*.whl"))


def test_the_build_refuses_a_mode_that_it_does_not_know(unpacked: Path, tmp_path: Path) -> None:
    done = build_wheel(unpacked, tmp_path / "wheels", check=False, AMFGATE_EXTENSIONS="yes")
    assert done.returncode != 0
    assert "AMFGATE_EXTENSIONS is one of auto, require, off, not 'yes'" in done.stdout + done.stderr


SAY_WHICH = "import amfgate; print(amfgate.IMPLEMENTATION); print(amfgate.WHY)"


@needs_compiler
@pytest.mark.parametrize("mode", ["auto", "require"])
def test_the_compiled_codec_is_chosen_where_it_is(compiled_python: Path, tmp_path: Path, mode: str) -> None:
    done = run(compiled_python, "-W", "error", "-c", SAY_WHICH, cwd=tmp_path, AMFGATE_EXTENSIONS=mode)
    assert done.stdout.splitlines()[0] == "cython"


@needs_compiler
def test_off_chooses_the_python_codec_beside_the_compiled_one(compiled_python: Path, tmp_path: Path) -> None:
    done = run(compiled_python, "-W", "error", "-c", SAY_WHICH, cwd=tmp_path, AMFGATE_EXTENSIONS="off")
    implementation, why = done.stdout.splitlines()
    assert implementation == "python"
    assert "AMFGATE_EXTENSIONS=off" in why


def test_an_absent_extension_is_passed_over_quietly(pure_python: Path, tmp_path: Path) -> None:
    done = run(pure_python, "-W", "error", "-c", SAY_WHICH, cwd=tmp_path, AMFGATE_EXTENSIONS="auto")
    implementation, why = done.stdout.splitlines()
    assert (implementation, done.stderr) == ("python", "")
    assert why


def test_a_required_extension_that_is_absent_is_an_import_error(pure_python: Path, tmp_path: Path) -> None:
    done = run(pure_python, "-c", SAY_WHICH, cwd=tmp_path, check=False, AMFGATE_EXTENSIONS="require")
    assert done.returncode == 1
    assert re.search(r"^(ImportError|ModuleNotFoundError): ", done.stderr, re.MULTILINE)


def test_another_value_is_an_error_that_names_the_three(pure_python: Path, tmp_path: Path) -> None:
    done = run(pure_python, "-c", SAY_WHICH, cwd=tmp_path, check=False, AMFGATE_EXTENSIONS="yes")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert [word for word in ("AMFGATE_EXTENSIONS", "auto", "require", "off", "yes") if word not in last] == []


@pytest.fixture(scope="module")
def broken_python(compiled_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment whose encoder extension is there and cannot be loaded."""
    folder = tmp_path_factory.mktemp("broken-env")
    python = environment_with(compiled_wheel, folder)
    (extension,) = (path for path in folder.rglob("_encoder.*") if path.suffix in (".so", ".pyd"))
    extension.write_bytes(b"not a library")
    return python


@needs_compiler
def test_an_extension_that_cannot_be_loaded_is_warned_of(broken_python: Path, tmp_path: Path) -> None:
    done = run(broken_python, "-c", SAY_WHICH, cwd=tmp_path, AMFGATE_EXTENSIONS="auto")
    assert done.stdout.splitlines()[0] == "python"
    assert done.stderr.count("RuntimeWarning: ") == 1


@needs_compiler
def test_a_required_extension_that_cannot_be_loaded_is_an_import_error(broken_python: Path, tmp_path: Path) -> None:
    done = run(broken_python, "-c", SAY_WHICH, cwd=tmp_path, check=False, AMFGATE_EXTENSIONS="require")
    assert done.returncode == 1
    assert re.search(r"^ImportError: ", done.stderr, re.MULTILINE)


SECOND_INTERPRETER = """
import amfgate
try:
    import _interpreters as interpreters  # CPython 3.13
    create = lambda: interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    create = lambda: interpreters.create(isolated=False)
print(amfgate.IMPLEMENTATION, flush=True)
failed = interpreters.run_string(create(), '''
import amfgate
print(amfgate.IMPLEMENTATION, amfgate.dumps([1]).hex(), flush=True)
''')
assert not failed, failed
"""


@needs_compiler
def test_a_second_sub_interpreter_falls_back_with_one_warning(compiled_python: Path, tmp_path: Path) -> None:
    """As mod_wsgi starts them: Cython's modules load into one interpreter of a process."""
    done = run(compiled_python, "-c", SECOND_INTERPRETER, cwd=tmp_path, AMFGATE_EXTENSIONS="auto")
    assert done.stdout.splitlines() == ["cython", "python 0903010401"]
    assert done.stderr.count("RuntimeWarning: ") == 1
