"""Fixtures: every test that asks for `codec` runs on each twin."""

from __future__ import annotations

import pytest
from both_twins import Codec, load_twin, twins_to_test


@pytest.fixture(params=twins_to_test())
def codec(request: pytest.FixtureRequest) -> Codec:
    """The codec, once for each twin."""
    return load_twin(request.param)


@pytest.fixture
def twins() -> tuple[Codec, Codec]:
    """Both twins side by side, for tests that compare them."""
    if twins_to_test() != ["python", "cython"]:
        pytest.skip("AMFGATE_EXTENSIONS=off: there is one twin only")
    return load_twin("python"), load_twin("cython")
