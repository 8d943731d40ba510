"""A small shop, to call and to be captured: `amfgate serve examples/inspect/shop.py:services`."""

from __future__ import annotations

import amfgate

PRODUCTS = [
    {"id": 1, "name": "Hand lens", "price": 12.25},
    {"id": 2, "name": "Compass", "price": 19.5},
    {"id": 3, "name": "Field book", "price": 4.75},
]


class Catalog:
    """What there is."""

    def page(self, offset: int = 0, limit: int = 20) -> list[dict[str, object]]:
        """Some of the products, by number."""
        return PRODUCTS[offset : offset + limit]

    def find(self, name: str) -> dict[str, object]:
        """One product by its name."""
        for product in PRODUCTS:
            if product["name"] == name:
                return product
        raise amfgate.Fault("Shop.Unknown", f"there is no {name}")


services = {"catalog": Catalog()}
