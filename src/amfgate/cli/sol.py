"""`amfgate sol`: save games and settings of Flash programs, shown and changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ..errors import EncodeError
from ..inspector import from_json as bytes_of
from ..inspector import hexdump, read_sol, to_json, tree
from ..inspector.jsonedit import put, remove
from ..inspector.jsonform import dumps
from ..sol import replace_file
from . import show
from .from_json import read_document
from .options import debug_option

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def sol() -> None:
    """Show and change local shared objects, the .sol files of Flash programs.

    \b
    amfgate sol show save.sol
    amfgate sol edit save.sol --set coins=500
    amfgate sol from-json save.json save.sol
    """


@sol.command("show")
@click.argument("file", type=_FILE)
@click.option("--json", "view", flag_value="json", help="The tagged JSON form, for from-json.")
@click.option("--hex", "view", flag_value="hex", help="Every byte in hex with its meaning.")
@click.option("--full", is_flag=True, help="Do not cut long texts and byte arrays.")
@debug_option
@click.pass_context
def show_file(context: click.Context, file: Path, view: str | None, full: bool) -> None:
    """Show what is in FILE; exit status 1 if it is damaged.

    \b
    amfgate sol show save.sol
    amfgate sol show save.sol --json > save.json
    """
    data = file.read_bytes()
    root = read_sol(data, tolerant=True)
    if view == "json":
        click.echo(dumps(to_json(root, data)), nl=False)
    elif view == "hex":
        show.hex_rows(hexdump.rows(root, data, full=full))
    else:
        show.tree_lines(tree.lines(root, full=full))
    for damage in root.more["damages"]:
        click.echo(f"damaged: {damage}", err=view is not None)
    context.exit(1 if root.more["damages"] else 0)


@sol.command("edit")
@click.argument("file", type=_FILE)
@click.option("--set", "settings", multiple=True, metavar="PATH=JSON", help="Give a member this value.")
@click.option("--delete", "deletions", multiple=True, metavar="PATH", help="Take a member or item away.")
@debug_option
def edit_file(file: Path, settings: tuple[str, ...], deletions: tuple[str, ...]) -> None:
    """Change FILE; without --set and --delete, in your editor, as JSON.

    The order of the members and every byte that is not touched stay as they are. The new file is written beside the
    old one and takes its place in one step; the old one is kept as FILE.bak (.bak2, ...). Close the program whose
    file it is first: it would write its own state over it.

    \b
    amfgate sol edit save.sol
    amfgate sol edit save.sol --set coins=500 --set 'player.name="Ada"' --delete 'items[2]'
    amfgate sol edit save.sol --set 'seen={"$date": 1700000000000}'
    """
    before = file.read_bytes()
    document = to_json(read_sol(before), before)
    if settings or deletions:
        for setting in settings:
            path, equals, text = setting.partition("=")
            if not equals:
                raise click.UsageError(f"--set takes PATH=JSON, as in coins=500, not {setting!r}")
            put(document, path, _value(path, text))
        for path in deletions:
            remove(document, path)
    else:
        edited = click.edit(dumps(document), extension=".json")
        if edited is None:
            click.echo("not changed")
            return
        document = read_document(edited.encode())
    _replace(file, before, bytes_of(document))


def _value(path: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise EncodeError(
            f"{path}: {text} is no JSON; text stands in double quotes, as in '{path}=\"{text}\"'"
        ) from None


def _replace(file: Path, before: bytes | None, after: bytes) -> None:
    """Put the new bytes in the place of the old, which are kept; only if they can be read again."""
    read_sol(after)
    if before == after:
        click.echo("not changed")
        return
    if before is None:
        replace_file(file, after)
        click.echo(f"{file}: {len(after)} bytes")
        return
    backup, number = file.with_name(f"{file.name}.bak"), 1
    while True:
        try:
            with backup.open("xb") as kept:
                kept.write(before)
            break
        except FileExistsError:
            number += 1
            backup = file.with_name(f"{file.name}.bak{number}")
    replace_file(file, after)
    click.echo(f"{file}: {len(before)} bytes before, {len(after)} now; the old file is {backup}")


@sol.command("from-json")
@click.argument("json_file", type=click.File("rb"), metavar="JSON|-")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@debug_option
def sol_from_json(json_file: Any, file: Path) -> None:
    """Make FILE of the JSON that `sol show --json` gives; one that is there already is kept as FILE.bak.

    \b
    amfgate sol from-json save.json save.sol
    """
    document = read_document(json_file.read())
    if not isinstance(document, dict) or document.get("kind") != "sol":
        raise EncodeError('this JSON is no shared object: "kind" has to be "sol"')
    _replace(file, file.read_bytes() if file.exists() else None, bytes_of(document))
