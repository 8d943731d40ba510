"""`amfgate call`: does the service answer?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from ..codec import Decoder
from ..codec import dumps as encode_value
from ..errors import AmfError, EncodeError
from ..inspector import from_json, read_values, to_json, tree, what
from ..inspector.jsonform import dumps
from ..inspector.jsonwrite import encode
from . import show
from .from_json import read_document
from .options import debug_option


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("url")
@click.argument("target", required=False)
@click.argument("arguments", nargs=-1, metavar="[ARGS]...")
@click.option("--flex", is_flag=True, help="Call as Flex's RemoteObject does: TARGET is destination.operation.")
@click.option("--amf3", is_flag=True, help="Send AMF3.")
@click.option("--user", metavar="NAME[:PASSWORD]", help="Credentials; the password is asked for if it is not here.")
@click.option("--header", "headers", multiple=True, metavar="NAME=JSON", help="An AMF header, as often as you like.")
@click.option("--http-header", "http_headers", multiple=True, metavar="NAME:VALUE", help="An HTTP header.")
@click.option("--timeout", type=float, default=30.0, show_default=True, help="Seconds to wait.")
@click.option(
    "--raw", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Post the bytes of this file."
)
@click.option("--tree", "as_tree", is_flag=True, help="Show the answer as inspect does, not as JSON.")
@debug_option
@click.pass_context
def call(context: click.Context, /, url: str, target: str | None, arguments: tuple[str, ...], **options: Any) -> None:
    """Call TARGET at URL, and print its answer as JSON.

    Each argument is JSON, with the tags of `inspect --json` where JSON has no word for it; what is no JSON is text.
    Put `--` before arguments that begin with a minus sign.

    \b
    amfgate call http://localhost:8000/amf catalog.page 0 20
    amfgate call http://localhost:8000/amf catalog.find '{"name": "lens", "limit": 3}'
    amfgate call http://localhost:8000/amf shop.save '{"$class": "com.example.Product", "$members": {"id": 1}}' --amf3
    amfgate call http://localhost:8080/messagebroker/amf orders.list --flex --user ada
    amfgate call http://localhost:8000/amf --raw call.amf

    With --raw FILE the bytes are posted as they are (a FILE of `inspect --json` is turned into bytes first), and the
    answer is shown as a tree. Exit status 1: the service answered with a fault.
    """
    from ..client import Client

    values = [value_of(argument) for argument in arguments]
    settings: dict[str, Any] = {
        "version": 3 if options["amf3"] else None,
        "flex": options["flex"],
        "credentials": _credentials(options["user"]),
        "headers": dict(_header(each) for each in options["headers"]),
        "http_headers": dict(_http_header(each) for each in options["http_headers"]),
        "timeout": options["timeout"],
    }
    try:
        with Client(url, plain=False, **settings) as client:
            if options["raw"] is not None:
                context.exit(_raw(client, options["raw"]))
            if target is None:
                raise click.UsageError("say what to call, as in catalog.page, or give --raw FILE")
            result = client.call(target, *values)
    except AmfError:
        raise
    except ValueError as error:  # of a URL, or of a target without destination
        raise click.UsageError(str(error)) from error
    data = encode_value(result, strings="all")
    root = read_values(data, 3)
    if options["as_tree"]:
        show.tree_lines(tree.lines(root.children[0][1]))
    else:
        click.echo(dumps(to_json(root, data)["values"][0]), nl=False)


def value_of(text: str) -> Any:
    """The value of one argument: of JSON with tags, else the text itself."""
    try:
        form = json.loads(text)
    except ValueError:
        if text[:1] in '{["':
            raise EncodeError(f"this argument begins like JSON and is none: {text}") from None
        return text
    return Decoder(encode(form, 3), version=3).decode()


def _credentials(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    name, colon, password = text.partition(":")
    return name, password if colon else click.prompt("password", hide_input=True, err=True)


def _header(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not NAME=JSON", param_hint="--header")
    return name, value_of(value)


def _http_header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise click.BadParameter(f"{text!r} is not NAME:VALUE", param_hint="--http-header")
    return name.strip(), value.strip()


def _raw(client: Any, path: Path) -> int:
    """Post a file, and show what comes back; HttpError for what is no AMF."""
    from ..client import HttpError

    data = path.read_bytes()
    if data.lstrip()[:1] == b"{":
        data = from_json(read_document(data))
    answer = client.post(data)
    found = what(answer.body)
    if found.root is None:
        raise HttpError(answer, found.why)
    show.heading(f"HTTP {answer.status} {answer.reason}, {len(answer.body)} bytes: {found.why}")
    show.tree_lines(tree.lines(found.root))
    for damage in found.damages:
        show.out(f"damaged: {damage}")
    sys.stdout.flush()
    targets = [str(node.more["target"].value) for _, node in found.root.children if node.kind == "body"]
    return 1 if found.damages or any(target.endswith("/onStatus") for target in targets) else 0
