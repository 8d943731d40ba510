"""The Royale client of examples/flex_shop, which docs/flex.md shows, buys something: compiled, and run in Chromium."""

from __future__ import annotations

from typing import Any

import pytest
from browser import open_page
from flex_shop import EXAMPLE, flex_shop
from real import serving
from royale_site import compiled_from

pytestmark = pytest.mark.clients

SECONDS = 30  # it needs about one
WANTING = "left out: tests/clients/test_flex_shop_royale.py, for want of"

# What the client shows is its report; it ends with an order or with a fault.
SCRIPT = r"""<script>
var running = 1, reports = {};
setInterval(() => {
  reports.text = document.body ? document.body.innerText : "";
  if (/^(order|[A-Z]\w+\.\w+)/m.test(reports.text)) running = 0;
}, 50);
</script>"""


def test_the_client_of_the_example_logs_in_and_orders(tmp_path_factory: pytest.TempPathFactory) -> None:
    sources = {name: (EXAMPLE / "client" / name).read_text(encoding="utf-8") for name in ("Main.mxml", "Product.as")}
    folder = compiled_from(sources, WANTING)
    page = (folder / "index.html").read_text(encoding="utf-8").replace("<head>", f"<head>{SCRIPT}", 1)

    with flex_shop() as shop:
        shop.CLIENT = folder

        def site(environ: dict[str, Any], start_response: Any) -> Any:
            if environ["PATH_INFO"] != "/":
                return shop.application(environ, start_response)
            start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
            return [page.encode()]

        with serving(site) as port:
            reports, log = open_page(f"http://127.0.0.1:{port}/", SECONDS, tmp_path_factory.mktemp("flex_shop"))

    assert reports["text"].split("\n") == [
        "Brass sextant, 149.5",
        "Hand lens, 12.25",
        "Plumb line, 9.99",
        "3 in the basket",
        "order 1, 1 line",
        "",
    ], log
