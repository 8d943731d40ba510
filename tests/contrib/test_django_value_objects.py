"""Runs django_value_objects.py in a process of its own: a process has one set of Django settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_models_of_django_as_value_objects() -> None:
    tests = Path(__file__).with_name("django_value_objects.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
        cwd=tests.parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
