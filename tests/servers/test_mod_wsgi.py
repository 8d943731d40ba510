"""Two applications in one process of mod_wsgi: each has a sub-interpreter, and a compiled module loads into one."""

from __future__ import annotations

import pytest
from both_twins import twins_to_test
from processes import TWO_APPLICATIONS, Server, mod_wsgi, need, running

pytestmark = pytest.mark.servers

TWO = Server("mod_wsgi", mod_wsgi(TWO_APPLICATIONS), "mod_wsgi")


def test_the_second_application_of_a_process_falls_back_with_one_warning() -> None:
    if "cython" not in twins_to_test():
        pytest.skip("AMFGATE_EXTENSIONS=off: there is nothing to fall back from")
    need(TWO)
    with running(TWO, "auto", "cython") as one:
        workers, codecs = set(), []
        for path in ("/one/amf", "/two/amf", "/one/amf", "/two/amf"):
            codecs.append(one.call("probe.which", path=path))
            workers.add(one.call("probe.worker", path=path)[0])
            assert one.call("probe.echo", [1, "a", None], path=path) == [1, "a", None]
        assert codecs == ["cython", "python", "cython", "python"]
        assert len(workers) == 1
        log = one.log.read_text()
        assert log.count("RuntimeWarning: amfgate runs in Python: the compiled extension does not load: ") == 1, log
