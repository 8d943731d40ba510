"""`amfgate from-json`: from the tagged JSON form back to bytes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from ..errors import EncodeError
from ..inspector import from_json as bytes_of
from .options import debug_option


@click.command("from-json")
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here, not to standard output."
)
@click.option("--hex", "as_hex", is_flag=True, help="Hex digits, not bytes; so it is on a terminal anyway.")
@debug_option
def from_json(file: Any, output: Path | None, as_hex: bool) -> None:
    """Make bytes of the JSON that `inspect --json` gives.

    \b
    amfgate inspect call.amf --json > call.json
    $EDITOR call.json
    amfgate from-json call.json -o call2.amf
    amfgate from-json call.json --hex
    """
    data = bytes_of(read_document(file.read()))
    if output is not None:
        output.write_bytes(data)
    elif as_hex or sys.stdout.isatty():
        click.echo(data.hex(" "))
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def read_document(text: bytes) -> Any:
    """A document of the JSON form; EncodeError that says where it is no JSON."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EncodeError(f"this is no JSON: {error}") from None
    if isinstance(document, dict) and document.get("kind") == "recording":
        raise EncodeError('this is a whole recording; take one of its packets, "exchanges"[n]["request"]')
    return document
