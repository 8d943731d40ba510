"""`amfgate inspect`: what is in these bytes?"""

from __future__ import annotations

import gc
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..codec import Decoder
from ..errors import DecodeError
from ..inspector import Found, captures, hexdump, to_json, tree, what
from ..inspector.canonical import canonical, canonical_value
from ..inspector.captures import UNPACKED_MOST
from ..inspector.jsonform import dumps
from ..packet import Packet
from ..sol import loads
from . import show
from .options import debug_option
from .source import Source, open_sources


@click.command()
@click.argument(
    "source",
    nargs=-1,
    required=True,
    metavar="FILE|-|HEX...",
    shell_complete=lambda context, parameter, incomplete: [CompletionItem(incomplete, type="file")],
)
@click.option("--amf0", "amf", flag_value=0, type=int, help="These are values of AMF0, whatever they look like.")
@click.option("--amf3", "amf", flag_value=3, type=int, help="These are values of AMF3, whatever they look like.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="The values begin behind so many bytes.")
@click.option("--inflate", is_flag=True, help="Unpack zlib or gzip first, which begins at --offset.")
@click.option("--json", "view", flag_value="json", help="The tagged JSON form; from-json makes the same bytes of it.")
@click.option("--hex", "view", flag_value="hex", help="Every byte in hex with its meaning.")
@click.option("--canonical", "view", flag_value="canonical", help="A stable text without message ids, for diffs.")
@click.option("--target", default="", metavar="PATTERN", help="Of a recording only calls of this name, * for any part.")
@click.option(
    "--save", type=click.Path(file_okay=False, path_type=Path), help="Write each packet of a recording to a file here."
)
@click.option("--width", type=click.IntRange(min=60), help="Request and reply side by side, in so many columns.")
@click.option("--full", is_flag=True, help="Do not cut long texts and byte arrays.")
@click.option("--tolerant/--strict", default=True, help="Go on after damage (as it is), or stop at the first.")
@debug_option
@click.pass_context
def inspect(context: click.Context, /, source: tuple[str, ...], **options: Any) -> None:
    """Say what the input is, and show what is in it: a tree with offsets, types, references and class names.

    It may be a packet, a shared object (.sol), values of AMF0 or AMF3, an RTMP command, or a recording with packets
    in it: HAR, WARC, raw HTTP. It comes from a file (which may be a hex dump in text), from standard input by "-", or
    stands here as hex digits or base64.

    \b
    amfgate inspect save.sol
    amfgate inspect 03 0003 666f6f 02 0003 626172 00 00 09
    curl -s http://localhost/amf --data-binary @call.amf | amfgate inspect - --hex
    amfgate inspect session.har --target 'catalog.*'
    amfgate inspect save.sol --json > save.json
    diff <(amfgate inspect a.amf --canonical) <(amfgate inspect b.amf --canonical)

    Exit status 1: the input is damaged, or no AMF.
    """
    sources = open_sources(source)
    if options["inflate"]:
        sources = [Source(one.name, _inflated(one, options["offset"])) for one in sources]
        options["offset"] = 0
    good = True
    for one in sources:
        if len(sources) > 1 and options["view"] != "json":
            show.heading(f"== {one.name}")
        read = _recording if captures.kind_of(one.data) and options["amf"] is None else _single
        try:
            with _no_collecting():
                good = read(one, options) and good
        except DecodeError as error:
            if len(sources) == 1:
                raise
            click.echo(f"amfgate: {error}", err=True)
            good = False
    context.exit(0 if good else 1)


def _inflated(source: Source, offset: int) -> bytes:
    """What zlib or gzip data hold; a little can hold very much, so there is a limit."""
    unpacker = zlib.decompressobj(47)  # either format
    try:
        data = unpacker.decompress(source.data[offset:], UNPACKED_MOST)
    except zlib.error as error:
        raise DecodeError(f"{source.name}: no zlib or gzip: {error}", offset) from None
    if unpacker.unconsumed_tail:
        raise DecodeError(f"{source.name}: more than {UNPACKED_MOST} bytes when unpacked")
    return data


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Millions of nodes and no garbage: looking for it takes more time than reading."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _find(data: bytes, options: dict[str, Any], progress: Callable[[int], None] | None = None) -> Found:
    return what(data, amf=options["amf"], offset=options["offset"], tolerant=options["tolerant"], progress=progress)


def _single(source: Source, options: dict[str, Any]) -> bool:
    with show.progress(source.name, len(source.data)) as progress:
        found = _find(source.data, options, progress)
    if found.root is None:
        hint = "; --inflate does that here" if "decompress it first" in found.why else ""
        raise DecodeError(f"{source.name}: {found.why}{hint}")
    view = options["view"]
    if view == "json":
        click.echo(dumps(to_json(found.root, source.data)), nl=False)
    elif view == "canonical":
        click.echo(_canonical(found, source.data), nl=False)
    elif view == "hex":
        show.hex_rows(hexdump.rows(found.root, source.data, full=options["full"]))
    else:
        show.heading(f"{source.name}: {_names(found)}: {found.why}" if found.why else f"{source.name}: {_names(found)}")
        for other in found.also:
            show.out(f"could also be: {other}")
        show.tree_lines(tree.lines(found.root, full=options["full"]))
    return _tell_damages(found, to_stderr=view is not None)


def _tell_damages(found: Found, *, to_stderr: bool) -> bool:
    """Say what was skipped; was nothing?"""
    for damage in found.damages:
        click.echo(f"damaged: {damage}", err=to_stderr)
    return not found.damages


def _names(found: Found) -> str:
    names = {"packet": "a packet", "sol": "a shared object", "rtmp": "an RTMP command"}
    return names.get(found.kind, found.kind.upper())


def _canonical(found: Found, data: bytes) -> str:
    if found.kind == "packet":
        return canonical(Packet.from_bytes(data))
    if found.kind == "sol":
        return canonical_value(loads(data).data)
    assert found.root is not None
    at = found.root.children[0][1].start if found.root.children else 0
    return "".join(canonical_value(value) for value in Decoder(data, version=found.root.amf, offset=at))


# --- recordings ------------------------------------------------------------------------------------------


def _recording(source: Source, options: dict[str, Any]) -> bool:
    good, count = True, 0
    documents: list[dict[str, Any]] = []
    with show.progress(source.name, len(source.data)) as progress:
        try:
            for exchange in captures.exchanges(source.data, target=options["target"], progress=progress):
                count += 1
                if options["save"]:
                    _save(exchange, count, options["save"])
                if options["view"] == "json":
                    documents.append(_as_json(exchange, options))
                else:
                    if progress is not None:
                        progress.give_way()
                    good = _show(exchange, options) and good
        except DecodeError as error:
            if not count:
                raise
            click.echo(f"amfgate: {source.name}: {error}", err=True)
            good = False
    if options["view"] == "json":
        click.echo(dumps({"amfgate": 1, "kind": "recording", "exchanges": documents}), nl=False)
    if not count:
        wanted = f" with a call of {options['target']}" if options["target"] else ""
        raise DecodeError(f"{source.name}: no AMF in this recording{wanted}")
    return good


def _show(exchange: captures.Recorded, options: dict[str, Any]) -> bool:
    status = f" -> {exchange.status}" if exchange.status else ""
    when = f"  ({exchange.when})" if exchange.when else ""
    show.heading(f"== {exchange.method or 'POST'} {exchange.url or '(no request)'}{status}{when}")
    for note in exchange.notes:
        show.out(f"note: {note}")
    halves = [("request", exchange.request), ("reply", exchange.reply)]
    founds = [(which, data, _find(data, options)) for which, data in halves if data is not None]
    width = options["width"] or show.columns()
    if options["view"] is None and len(founds) == 2 and (options["width"] or width >= show.SIDE_BY_SIDE):
        left, right = (_text_of(which, found, options) for which, _, found in founds)
        show.beside(left, right, width)
    else:
        for which, data, found in founds:
            _show_half(which, data, found, options)
    show.out()
    return all(found.root is not None and not found.damages for _, _, found in founds)


def _text_of(which: str, found: Found, options: dict[str, Any]) -> Iterator[str]:
    yield f"{which}: {found.why}"
    if found.root is not None:
        yield from map(str, tree.lines(found.root, full=options["full"]))
    for damage in found.damages:
        yield f"damaged: {damage}"


def _show_half(which: str, data: bytes, found: Found, options: dict[str, Any]) -> None:
    show.out(f"{which}: {found.why}")
    if found.root is None:
        return
    if options["view"] == "canonical":
        click.echo(_canonical(found, data), nl=False)
    elif options["view"] == "hex":
        show.hex_rows(hexdump.rows(found.root, data, full=options["full"]))
    else:
        show.tree_lines(tree.lines(found.root, full=options["full"]))
    _tell_damages(found, to_stderr=False)


def _as_json(exchange: captures.Recorded, options: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"url": exchange.url, "method": exchange.method, "status": exchange.status}
    entry["when"], entry["notes"] = exchange.when, list(exchange.notes)
    for which, data in (("request", exchange.request), ("reply", exchange.reply)):
        if data is not None:
            found = _find(data, options)
            entry[which] = {"raw": data.hex(), "kind": ""} if found.root is None else to_json(found.root, data)
    return entry


def _save(exchange: captures.Recorded, number: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", "+".join(exchange.targets))[:60].strip("._")
    for which, data in (("request", exchange.request), ("reply", exchange.reply)):
        if data is not None:
            (folder / f"{number:04d}-{name or 'amf'}-{which}.amf").write_bytes(data)
