"""Services as lines of text, for the commands that list them."""

from __future__ import annotations

from collections.abc import Iterator

from ..services import ServiceRegistry


def lines(registry: ServiceRegistry, name: str | None = None) -> Iterator[str]:
    """A line for each method of `registry`, or of its service `name`, sorted by target.

    catalog.page(number: int, size: int=) -> list[dict]    requires 'staff'    Products by name.
    """
    for method in registry.describe(name):
        arguments = ", ".join(
            f"{one['name']}{': ' if one['type'] else ''}{one['type']}{'' if one['required'] else '='}"
            for one in method["arguments"]
        )
        line = f"{method['name']}({arguments})"
        if method["returns"]:
            line += f" -> {method['returns']}"
        if method["requires"]:
            line += f"    requires {' and '.join(method['requires'])}"
        if method["description"]:
            line += f"    {method['description'].splitlines()[0]}"
        yield line
