"""The first filter: from the bytes of a POST to a packet with its calls, and from the answers back to bytes.

Everything that HTTP can get wrong about a body ends here, in a plain sentence; what is behind has packets only.
Once a packet is parsed, every answer is HTTP 200 with AMF: Flash Player drops the body of an error status, and the
program would learn only NetConnection.Call.Failed.
"""

from __future__ import annotations

import zlib
from struct import Struct
from struct import error as StructError
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from ..codec import Decoder, Encoder
from ..envelope import collections_wanted, fault_value
from ..errors import DecodeError, EncodeError, Fault
from ..flex.collections import COLLECTION
from ..log import log_error, logger, message_of, printable
from ..packet import Body, Packet
from ..pipeline import Call, Exchange, Response, plain
from ..plans import Plan
from ..types import TypedObject, undefined
from . import debug_events
from .describe import HEADER as DESCRIBE_SERVICE

if TYPE_CHECKING:
    from ..gateway import Gateway

ALLOW: Final = ("Allow", "POST, OPTIONS")
PAGE: Final = (
    "This is an AMF gateway. Flash, Flex and AIR programs call its services by POST; there is no page to look at here."
)

# How many repeated values the reply to a version-0 request writes out again before it uses references.  Ruffle reads
# a reference as undefined; but 40 levels of x = [x, x] written out are 10**12 values.
REPEATS: Final = 10_000

UNLIMITED: Final = 1 << 62
CHUNK: Final = 64 * 1024  # of a body of unknown length, read at a time
LONGEST_URI: Final = 16_000  # in characters: in UTF-8, with "/onStatus" behind it, it fits the two bytes of a length

# The headers that remoting defines.  A request that insists on one of them is not refused.
KNOWN_HEADERS: Final = (
    "Credentials",
    "RequestPersistentHeader",
    "AppendToGatewayUrl",
    "ReplaceGatewayUrl",
    DESCRIBE_SERVICE,
    debug_events.HEADER,
)

_ASKING: Final = (DESCRIBE_SERVICE, debug_events.HEADER)  # those that ask the gateway itself for something

_TYPE: Final = ("Content-Type", "application/x-amf")
_NO_STORE: Final = ("Cache-Control", "no-store")
_NAMES: Final = {
    type(None): "null",
    type(undefined): "undefined",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    bytes: "a byte array",
    list: "an array",
    dict: "an anonymous object",
}

_VERSIONS: Final = (b"\0\0", b"\0\3", b"\0\1")
_ONE_CALL: Final = b"\0\0\0\1"  # no headers, one body
_NO_RESPONSE: Final = b"\0\4null"
_pack_words: Final = Struct(">HHH").pack
_pack_word: Final = Struct(">H").pack
_pack_long: Final = Struct(">I").pack


class PacketCodec:
    """Reads the request, writes the reply.

    A request is POST, with any content type: clients send application/x-amf, text/plain or octet-stream.  Its body
    has a Content-Length, or is chunked on a server that says so (`wsgi.input_terminated`); gzip and deflate are
    unpacked.  Limits are the gateway's: `max_body` for the bytes as sent and as unpacked, `max_bodies`, `max_values`,
    `max_depth`.  What is no packet is answered by 400, what is too large by 413, GET by 405.

    A body that cannot be decoded, a call that fails and a result that cannot be encoded have their own
    fault; the other calls are answered.
    """

    headers = KNOWN_HEADERS

    def on_request(self, exchange: Exchange) -> None:
        environ = exchange.environ
        if environ["REQUEST_METHOD"] != "POST":
            exchange.response = _not_post(environ["REQUEST_METHOD"])
            return
        gateway = exchange.gateway
        limits = gateway.limits
        data = read_body(environ, limits.max_body)
        if isinstance(data, Response):
            _refuse(exchange, data)
            return
        exchange.data = data
        if data[2:6] == _ONE_CALL and _read_one_call(exchange, data):
            return
        started = perf_counter() if gateway.debug else 0.0
        try:
            packet = Packet.from_bytes(data, classes=gateway.classes, limits=limits, plain=True)
        except DecodeError as error:
            too_many = error.message.endswith("(max_bodies)")  # a limit's error ends with its name
            _refuse(exchange, plain(413 if too_many else 400, str(error)))
            return
        exchange.request = packet
        if packet.headers:
            for header in packet.headers:
                if header.name in _ASKING:
                    exchange.logged = True  # has Dispatch look for them, and time the calls
            if exchange.logged and gateway.debug:
                debug_events.begin(exchange, started)
        calls = exchange.calls
        for body in packet.bodies:
            try:
                value = body.value
            except DecodeError as error:
                call = Call(exchange, body.target, body.response, [], body.size)
                calls.append(call)
                call.fail(_undecodable(error))
                continue
            if type(value) is list:
                calls.append(Call(exchange, body.target, body.response, value, body.size))
            else:
                calls.append(_odd_call(exchange, body, value))
        if packet.dropped:
            logger.warning(
                "%d bodies were dropped: they follow one that could not be decoded and whose length is no guide",
                packet.dropped,
            )
        if packet.headers:
            for header in packet.headers:
                if header.must_understand and header.name not in gateway.understood:
                    exchange.fail(
                        Fault(
                            "Client.Header.MustUnderstand",
                            f"the header '{printable(header.name, 100)}' must be understood, and nothing here knows it",
                        )
                    )
                    return

    def on_response(self, exchange: Exchange) -> None:
        if exchange.response is None and exchange.request is not None:
            exchange.fail(RuntimeError("no filter answered; the last one has to be Dispatch"))
        response = exchange.response
        events = debug_events.taken(exchange) if exchange.logged else None
        if events is not None:
            events.finish(exchange, encode_reply, LONGEST_URI)
        elif isinstance(response, Packet):
            exchange.response = encode_reply(exchange, response)


def _read_one_call(exchange: Exchange, data: bytes) -> bool:
    """Read a packet of one call and no headers, as nearly all are: `Packet.from_bytes` in one straight line.

    False for anything out of the ordinary, text that is not UTF-8, references, arguments that are no array, errors of
    any kind: then nothing has happened, and the packet is read again in the way that deals with it.
    """
    gateway = exchange.gateway
    try:
        end = 8 + (data[6] << 8 | data[7])
        target = data[8:end].decode()
        start = end + 2
        end = start + (data[end] << 8 | data[end + 1])
        uri = data[start:end].decode()
        at = end + 4  # the length is not used
        decoder = Decoder(data, version=0, classes=gateway.classes, limits=gateway.limits, plain=True, offset=at)
        value = decoder.decode_body()
        if type(value) is not list or decoder.offset != len(data) or decoder.references or data[:2] not in _VERSIONS:
            return False
    except Exception:
        return False
    body = Body(target, uri, value)
    body.size = size = len(data) - at
    body._lead = data[at : at + 6]
    exchange.request = packet = Packet.__new__(Packet)
    packet.version = data[1]
    packet.headers = []
    packet.bodies = [body]
    packet.dropped = 0
    exchange.calls.append(Call(exchange, target, uri, value, size))
    return True


def read_body(environ: dict[str, Any], limit: int | None) -> bytes | Response:
    """The body of a request, unpacked, of at most `limit` bytes; or the Response that says why there is none."""
    declared = environ.get("CONTENT_LENGTH")
    source = environ["wsgi.input"]
    if declared:
        if not declared.isdecimal():
            return plain(400, f"Content-Length is '{printable(declared, 40)}', not a number of bytes.")
        length = int(declared) if len(declared) < 20 else 1 << 64
        if limit is not None and length > limit:
            return _too_large(f"The request has {declared[:20]} bytes", limit)
        data = source.read(length)
        if len(data) != length:
            data = _read_rest(source, data, length)
            if len(data) != length:
                return plain(400, f"The request broke off after {len(data)} of {length} bytes.")
    elif environ.get("wsgi.input_terminated"):
        whole = _read_to_end(source, UNLIMITED if limit is None else limit)
        if isinstance(whole, Response):
            return whole
        data = whole
    else:
        # Without a length, reading would wait for a client that waits for its answer (PEP 3333, "Input and Error
        # Streams").
        return plain(400, "The request has no body, or does not say how long it is: a Content-Length is needed.")
    coding = environ.get("HTTP_CONTENT_ENCODING")
    if coding and coding.strip().lower() != "identity":
        return _unpack(data, coding.strip().lower(), limit)
    return data if type(data) is bytes else bytes(data)


def _read_rest(source: Any, data: bytes, length: int) -> bytes:
    """Read on after a short read, which a socket may give, until `length` bytes are there or nothing comes."""
    parts = [data]
    left = length - len(data)
    while left > 0 and data:
        data = source.read(left)
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def _read_to_end(source: Any, limit: int) -> bytes | Response:
    """Everything up to the end, or the Response to more than `limit` bytes."""
    parts: list[bytes] = []
    size = 0
    while True:
        data = source.read(CHUNK)
        if not data:
            return b"".join(parts)
        size += len(data)
        if size > limit:
            return _too_large("The request has more bytes than that", limit)
        parts.append(data)


def _unpack(data: bytes, coding: str, limit: int | None) -> bytes | Response:
    """Undo a Content-Encoding; never makes more than one byte above `limit`."""
    if coding in ("gzip", "x-gzip"):
        window = 31
    elif coding == "deflate":
        # RFC 9110, 8.4.1.2 means the zlib format; some clients send the bare stream.  A zlib header is a multiple of
        # 31.
        window = 15 if len(data) > 1 and data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0 else -15
    else:
        return plain(415, f"Content-Encoding is '{printable(coding, 40)}'; gzip, deflate and identity are read here.")
    out: list[bytes] = []
    room = 0 if limit is None else limit + 1
    rest = data
    try:
        while rest or not out:
            unpacker = zlib.decompressobj(window)
            part = unpacker.decompress(rest, room)
            out.append(part)
            if limit is not None:
                room -= len(part)
                if room <= 0:
                    return _too_large("The request unpacks to more bytes than that", limit)
            if not unpacker.eof:
                return plain(400, f"The {coding} body of the request ends early.")
            rest = unpacker.unused_data if window == 31 else b""  # gzip may come in several members (RFC 1952, 2.2)
    except zlib.error as error:
        return plain(400, f"The body of the request is not {coding}: {printable(str(error), 100)}.")
    return b"".join(out)


def encode_reply(exchange: Exchange, packet: Packet) -> Response:
    """The packet as an HTTP answer.  A value that cannot be encoded is replaced by the fault of its call."""
    gateway = exchange.gateway
    avmplus = packet.version == 3
    bodies = packet.bodies
    if packet.headers:
        headers = _write_headers(packet, gateway)
        parts = [_pack_words(packet.version, len(headers), len(bodies))[:4], *headers, _pack_word(len(bodies))]
    else:
        parts = [_pack_words(packet.version, 0, len(bodies))]
    wrap = deep = None
    if gateway.services.collects and avmplus:
        deep = {id(call.response) for call in exchange.calls if collections_wanted(call) == "deep"}
    for body in bodies:
        if deep is not None:
            wrap = COLLECTION if id(body) in deep else None
        try:
            _write_body(parts, body, avmplus, gateway, wrap)
        except Exception as error:
            _write_fault(parts, exchange, body, avmplus, error, wrap)
    data = b"".join(parts)
    response = Response.__new__(Response)  # every field is known to be right: this is once per request
    response.status = "200 OK"
    response.body = data
    response.headers = [_TYPE, ("Content-Length", str(len(data))), _NO_STORE]
    return response


def _write_headers(packet: Packet, gateway: Gateway) -> list[bytes]:
    headers: list[bytes] = []
    for header in packet.headers:
        try:
            headers.append(header.to_bytes(packet.version, classes=gateway.classes, limits=gateway.reply_limits))
        except Exception as error:
            # The client asked for the calls, not for this header: they are answered without it.
            log_error(f"the reply's header '{printable(str(header.name))}' is left out: {message_of(error)}", error)
    return headers


def _write_body(
    parts: list[bytes], body: Body, avmplus: bool, gateway: Gateway, wrap_lists: Plan | None = None
) -> None:
    """Append a body of the reply.  Nothing is appended when it raises."""
    encoder = Encoder(version=0, classes=gateway.classes, limits=gateway.reply_limits)
    if wrap_lists is not None:
        value = encoder.encode_body(body.value, avmplus=True, wrap_lists=wrap_lists)
    elif avmplus:
        value = encoder.encode_body(body.value, avmplus=True)
    else:
        value = encoder.encode_body(body.value, avmplus=False, whole=True, repeats=REPEATS)
    body.size = size = len(value)
    target = body.target.encode("utf-8", "surrogateescape")
    try:
        if body.response == "null":
            parts += _pack_word(len(target)), target, _NO_RESPONSE, _pack_long(size), value
            return
        response = body.response.encode("utf-8", "surrogateescape")
        parts += _pack_word(len(target)), target, _pack_word(len(response)), response, _pack_long(size), value
    except StructError:
        raise EncodeError("the texts of a body of the reply are longer than 65535 bytes") from None


def _write_fault(
    parts: list[bytes], exchange: Exchange, body: Body, avmplus: bool, error: Exception, wrap_lists: Plan | None
) -> None:
    """Append a fault in place of a body that cannot be encoded."""
    call = next((call for call in exchange.calls if call.response is body), None)
    if call is not None:
        # A Fault may itself hold a root cause or data that cannot be sent: it is told without them.
        failed = call.fault
        told = error if failed is None else Fault(failed.code, failed.description, details=failed.details)
        for reason in (told, Fault("Server.Processing", "the call failed, and its fault cannot be encoded")):
            call.fail(reason)
            assert call.response is not None
            try:
                _write_body(parts, call.response, avmplus, exchange.gateway, wrap_lists)
            except Exception as again:
                log_error(f"{printable(call.target)}: its fault cannot be encoded: {message_of(again)}", again)
            else:
                return
    else:
        log_error(f"a body of the reply cannot be encoded: {message_of(error)}", error)
    uri = "" if call is None or len(call.uri) > LONGEST_URI else call.uri
    fault = Fault("Server.Processing", "the answer cannot be encoded")
    _write_body(parts, Body(uri + "/onStatus", "null", fault_value(fault)), avmplus, exchange.gateway)


def _odd_call(exchange: Exchange, body: Body, value: Any) -> Call:
    """The call of a body whose value is no array."""
    if value is None or value is undefined:
        return Call(exchange, body.target, body.response, [], body.size)
    if isinstance(value, list):
        return Call(exchange, body.target, body.response, list(value), body.size)
    if isinstance(value, (str, int, float, bytes)):
        call = Call(exchange, body.target, body.response, [], body.size)
        call.fail(Fault("Client.Message.Encoding", f"the arguments of a call are an array; found {describe(value)}"))
        return call
    # One object in the place of the array: a lone argument (RocketAMF, amfext), most often a Flex message.
    return Call(exchange, body.target, body.response, [value], body.size)


def describe(value: Any) -> str:
    """What was found in the place of something else, in two or three words."""
    if isinstance(value, TypedObject):
        return f"an object of the class '{printable(value.alias, 100)}'" if value.alias else "an anonymous object"
    if isinstance(value, list):
        if not value:
            return "an empty array"
        items = f"{len(value)} items, the first" if len(value) > 1 else "one item,"
        return f"an array of {items} {_NAMES.get(type(value[0]), type(value[0]).__name__)}"
    return _NAMES.get(type(value), f"a value of type {type(value).__name__}")


def _undecodable(error: DecodeError) -> Fault:
    fault = Fault("Client.Message.Encoding", str(error))
    fault.__cause__ = error
    return fault


def _refuse(exchange: Exchange, response: Response) -> None:
    body = response.body if isinstance(response.body, bytes) else b""
    logger.warning("%s: %s", response.status, printable(body.decode("utf-8", "replace").rstrip("\n")))
    exchange.response = response


def _too_large(what: str, limit: int) -> Response:
    return plain(413, f"{what}; {limit} bytes are read here (max_body).")


def _not_post(method: str) -> Response:
    if method == "OPTIONS":
        return Response(204, b"", [ALLOW])
    return plain(405, PAGE, [ALLOW])
