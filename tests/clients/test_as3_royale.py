"""What `amfgate as3` writes, compiled by Apache Royale, calls the gateway that it was written from, in Chromium.

The application is royale_as3/Calls.as.  It is compiled here, once for each generated text, which needs the compiler
that royale/install.sh puts into the cache, and Java.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import as3_shop
import flash_app
import pytest
from browser import HERE, Run, open_page, text
from real import serving
from royale_site import compiled_from, site

import amfgate
from amfgate.actionscript import generate

pytestmark = pytest.mark.clients

SECONDS = 40  # for all calls; they need about two
WANTING = "left out: tests/clients/test_as3_royale.py, for want of"


def compiled() -> Path:
    """The folder of the compiled application."""
    own = {path.name: path.read_text(encoding="utf-8") for path in sorted((HERE / "royale_as3").iterdir())}
    made = generate(as3_shop.CLASSES, as3_shop.gateway.services, target="royale")
    return compiled_from({**made.files, **own}, WANTING)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    app = site(compiled())
    orders = as3_shop.Orders()
    app.wsgi_app = amfgate.Gateway(app.wsgi_app, {"orders": orders}, classes=as3_shop.CLASSES)
    recorder = flash_app.Recorder(app)
    with serving(recorder) as port:
        reports, log = open_page(f"http://127.0.0.1:{port}/?give=", SECONDS, tmp_path_factory.mktemp("royale"))
    return Run(reports, {"orders": orders.arrived}, recorder.packets, log)


LINE = ["com.example.Line", True, 7, 'the "usual"', 2.5, 4.5, "none"]


def test_value_objects_come_and_go(run: Run) -> None:
    order, color = run.arrived["orders"][:2]
    line = as3_shop.Line(7, unit_price=2.5, quantity=2, rating=4.5, color=as3_shop.Color.default)
    expected = as3_shop.Order(2**32, date(2026, 3, 1), [line], line, total=5.0, note=b"\xff")
    assert (order, color) == (expected, as3_shop.Color.RED)
    assert run.report("save") == text(
        {
            "result": {
                "order": True,
                "number": 2**32,
                "day": {"Date": 1772323200000},
                "lines": [LINE],
                "same": True,
                "kind": "normal",
                "total": 5,
                "paid": None,
                "note": {"ByteArray": "ff"},
            }
        }
    )


def test_arguments_that_are_left_out_are_not_sent(run: Run) -> None:
    assert run.arrived["orders"][-6:] == [1, 20, False, 1, 2, True]


def test_a_class_that_the_application_does_not_mention_arrives_as_itself(run: Run) -> None:
    gift = ["com.example.Gift", True, 1, "a gift", 1.5, None, "red"]
    line = ["com.example.Line", True, 20, "a line", 1.5, 0.5, "red"]
    assert run.report("page") == text({"result": [gift, line]})


def test_any_number_of_arguments(run: Run) -> None:
    assert run.report("join") == text({"result": "abc"})


def test_what_was_never_set_does_not_fit(run: Run) -> None:
    told = ["Client.Arguments", "orders.save: argument 'order' $.number: expected int, got float"]  # NaN
    assert run.report("unset") == text({"fault": told})


def test_a_fault(run: Run) -> None:
    told = ["Client.Authentication", "this call needs a user who is logged in"]
    assert run.report("delete") == text({"fault": told})
