"""Small programs written for PyAMF: each function is one, and gives what a user would look at.

Run as a program with the name of a module, it runs them all on that module and prints their outcomes as JSON:

    python pyamf_examples.py pyamf
    python pyamf_examples.py amfgate.compat.pyamf
"""

from __future__ import annotations

import base64
import datetime
import importlib
import io
import json
import sys
from collections.abc import Callable
from typing import Any

EXAMPLES: dict[str, Callable[[Any], Any]] = {}


DIFFERENT: dict[str, Callable[[Any], Any]] = {}  # what comes out otherwise here, on purpose


def example(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    EXAMPLES[function.__name__] = function
    return function


def different(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    DIFFERENT[function.__name__] = function
    return function


# --- encode and decode -----------------------------------------------------------------------------------------------


@example
def encode_amf3(pyamf: Any) -> Any:
    values = [None, True, False, 5, -1, 1.5, "ab", ["ab", 2], {"a": 1}, 268435456, pyamf.Undefined]
    return [pyamf.encode(value, encoding=pyamf.AMF3).getvalue().hex() for value in values]


@example
def encode_amf0(pyamf: Any) -> Any:
    values = [None, True, 5, 1.5, "ab", [1, "x"], {"a": 1}, pyamf.Undefined]
    return [pyamf.encode(value, encoding=pyamf.AMF0).getvalue().hex() for value in values]


@example
def encode_uses_amf3_unless_told(pyamf: Any) -> Any:
    return pyamf.encode("ab").read().hex(), pyamf.DEFAULT_ENCODING, pyamf.ENCODING_TYPES


@example
def encode_several_values(pyamf: Any) -> Any:
    stream = pyamf.encode("ab", "ab", 5, encoding=pyamf.AMF3)
    return stream.tell(), len(stream), stream.read(3).hex(), stream.read().hex()


@example
def decode_several_values(pyamf: Any) -> Any:
    data = pyamf.encode("ab", 5, [1, 2], encoding=pyamf.AMF3).getvalue()
    return list(pyamf.decode(data, encoding=pyamf.AMF3))


@example
def decode_one_by_one(pyamf: Any) -> Any:
    values = pyamf.decode(pyamf.encode(1, 2, encoding=pyamf.AMF0), encoding=pyamf.AMF0)
    first, second = next(values), next(values)
    return first, second, next(values, "no more")


@example
def an_unknown_encoding(pyamf: Any) -> Any:
    try:
        pyamf.encode(1, encoding=5)
    except ValueError:
        return "ValueError"


@example
def decode_wrong_bytes(pyamf: Any) -> Any:
    try:
        list(pyamf.decode(b"\x20\x01", encoding=pyamf.AMF3))
    except pyamf.DecodeError as error:
        return isinstance(error, pyamf.BaseError)


@example
def dates_are_naive_utc(pyamf: Any) -> Any:
    moment = datetime.datetime(2009, 2, 13, 23, 31, 30)
    data = pyamf.encode(moment, encoding=pyamf.AMF3).getvalue()
    (back,) = pyamf.decode(data, encoding=pyamf.AMF3)
    return data.hex(), back == moment, back.tzinfo is None


# --- Undefined, ASObject, MixedArray, TypedObject --------------------------------------------------------------------


@example
def undefined(pyamf: Any) -> Any:
    (back,) = pyamf.decode(b"\x00", encoding=pyamf.AMF3)
    return back is pyamf.Undefined, pyamf.encode({"x": pyamf.Undefined}, encoding=pyamf.AMF3).getvalue().hex()


@example
def objects_have_attributes(pyamf: Any) -> Any:
    (user,) = pyamf.decode(bytes.fromhex("0a0b01 096e616d65 0607616461 01"), encoding=pyamf.AMF3)
    user.age = 36
    missing = getattr(user, "email", "none")
    return type(user).__name__, isinstance(user, pyamf.ASObject), user.name, user["name"], user["age"], missing


@example
def objects_are_sent(pyamf: Any) -> Any:
    thing = pyamf.ASObject(name="ada")
    thing.size = 3
    return (
        pyamf.encode(thing, encoding=pyamf.AMF3).getvalue().hex(),
        hash(thing) == id(thing),
        thing
        == {
            "name": "ada",
            "size": 3,
        },
    )


@example
def objects_inside_objects(pyamf: Any) -> Any:
    (tree,) = pyamf.decode(pyamf.encode({"a": {"b": [{"c": 1}]}}, encoding=pyamf.AMF0), encoding=pyamf.AMF0)
    return tree.a.b[0].c


@example
def one_object_twice(pyamf: Any) -> Any:
    row = {"n": 1}
    (rows,) = pyamf.decode(pyamf.encode([row, row], encoding=pyamf.AMF3), encoding=pyamf.AMF3)
    return rows[0] is rows[1], rows[0].n


@example
def mixed_arrays(pyamf: Any) -> Any:
    data = bytes.fromhex("08 00000002 0001 30 02 0001 61 0003 666f6f 02 0003 626172 000009")
    (array,) = pyamf.decode(data, encoding=pyamf.AMF0)
    again = pyamf.encode(pyamf.MixedArray(foo="bar"), encoding=pyamf.AMF0).getvalue()
    return isinstance(array, pyamf.MixedArray), array[0], array["foo"], again[5:].hex()


@example
def typed_objects(pyamf: Any) -> Any:
    data = bytes.fromhex("10 0008 67616d652e486174 0004 73697a65 00 4024000000000000 000009")
    (hat,) = pyamf.decode(data, encoding=pyamf.AMF0)
    made = pyamf.TypedObject("game.Hat")
    made["size"] = 10
    return isinstance(hat, pyamf.TypedObject), hat.alias, dict(hat), made.alias, made == hat


# --- register_class --------------------------------------------------------------------------------------------------


@example
def registered_classes(pyamf: Any) -> Any:
    class User:
        def __init__(self, name: str = "") -> None:
            self.name = name

    pyamf.register_class(User, "com.example.User")
    data = pyamf.encode(User("ada"), encoding=pyamf.AMF3).getvalue()
    (back,) = pyamf.decode(data, encoding=pyamf.AMF3)
    (zero,) = pyamf.decode(pyamf.encode(User("bob"), encoding=pyamf.AMF0), encoding=pyamf.AMF0)
    return type(back) is User, back.name, type(zero) is User, zero.name, b"com.example.User" in data


@example
def a_class_says_its_alias_itself(pyamf: Any) -> Any:
    class Product:
        class __amf__:
            alias = "com.example.Product"
            exclude = ("secret",)
            readonly = ("id",)

    product = Product()
    product.id, product.name, product.secret = 7, "lens", "x"  # type: ignore[attr-defined]
    pyamf.register_class(Product)
    data = pyamf.encode(product, encoding=pyamf.AMF3).getvalue()
    (back,) = pyamf.decode(data, encoding=pyamf.AMF3)
    return b"secret" in data, b"id" in data, hasattr(back, "id"), back.name


@example
def an_alias_is_known_and_forgotten(pyamf: Any) -> Any:
    class Thing:
        pass

    found = pyamf.register_class(Thing, "com.example.Thing")
    known = pyamf.get_class_alias("com.example.Thing").klass is Thing
    pyamf.unregister_class("com.example.Thing")
    try:
        pyamf.unregister_class("com.example.Thing")
    except pyamf.UnknownClassAlias:
        return found.alias, known, "forgotten"


@example
def externalizable_classes(pyamf: Any) -> Any:
    streams: list[bool] = []

    class Card:
        class __amf__:
            external = True

        def __writeamf__(self, output: Any) -> None:
            streams.append(isinstance(output, pyamf.amf3.DataOutput))
            output.writeByte(-2)
            output.writeUnsignedByte(200)
            output.writeBoolean(True)
            output.writeShort(-300)
            output.writeUnsignedShort(60000)
            output.writeInt(-70000)
            output.writeUnsignedInt(4000000000)
            output.writeFloat(0.5)
            output.writeDouble(0.1)
            output.writeUTF("grüße")
            output.writeUTFBytes("ab")
            output.writeMultiByte("é", "latin-1")
            output.writeObject([1, "x"])

        def __readamf__(self, input: Any) -> None:
            streams.append(isinstance(input, pyamf.amf3.DataInput))
            self.values = [
                input.readByte(),
                input.readUnsignedByte(),
                input.readBoolean(),
                input.readShort(),
                input.readUnsignedShort(),
                input.readInt(),
                input.readUnsignedInt(),
                input.readFloat(),
                input.readDouble(),
                input.readUTF(),
                input.readUTFBytes(2),
                input.readMultiByte(1, "latin-1"),
                input.readObject(),
            ]

    pyamf.register_class(Card, "com.example.Card")
    data = pyamf.encode(Card(), encoding=pyamf.AMF3).getvalue()
    (card,) = pyamf.decode(data, encoding=pyamf.AMF3)
    return data.hex(), card.values, streams


# --- amf3.ByteArray --------------------------------------------------------------------------------------------------


@example
def byte_arrays_are_streams(pyamf: Any) -> Any:
    data = pyamf.amf3.ByteArray()
    data.writeByte(-1)
    data.writeUTF("ab")
    data.writeInt(7)
    data.writeObject({"a": 1})
    length = len(data)
    data.seek(0)
    read = data.readByte(), data.readUTF(), data.readInt(), data.readObject().a
    return length, read, data.tell(), data.remaining(), data.at_eof()


@example
def byte_arrays_hold_bytes(pyamf: Any) -> Any:
    data = pyamf.amf3.ByteArray(b"hello")
    data.seek(1)
    read = data.read(2).decode()
    data.write(b"XY")
    return read, data.getvalue().decode(), data == b"helXY", bytes(data).decode(), data.peek(2).decode()


@example
def byte_arrays_travel(pyamf: Any) -> Any:
    data = pyamf.encode(pyamf.amf3.ByteArray(b"\x01\x02"), encoding=pyamf.AMF3).getvalue()
    (back,) = pyamf.decode(data, encoding=pyamf.AMF3)
    zero = pyamf.encode(pyamf.amf3.ByteArray(b"\x01\x02"), encoding=pyamf.AMF0).getvalue()
    return data.hex(), type(back) is pyamf.amf3.ByteArray, back.getvalue().hex(), back.readByte(), zero.hex()


@example
def one_byte_array_twice(pyamf: Any) -> Any:
    data = pyamf.amf3.ByteArray(b"\x01\x02")
    return pyamf.encode([data, data], encoding=pyamf.AMF3).getvalue().hex()


# --- flex ------------------------------------------------------------------------------------------------------------


@example
def array_collections(pyamf: Any) -> Any:
    rows = pyamf.flex.ArrayCollection([1, 2])
    rows.append(3)
    data = pyamf.encode(rows, encoding=pyamf.AMF3).getvalue()
    (back,) = pyamf.decode(data, encoding=pyamf.AMF3)
    return data.hex(), type(back) is pyamf.flex.ArrayCollection, list(back), back[1], len(back), 3 in back


# --- remoting.gateway.wsgi.WSGIGateway -------------------------------------------------------------------------------


def post(gateway: Any, data: bytes) -> bytes:
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/anywhere",
        "SCRIPT_NAME": "",
        "CONTENT_LENGTH": str(len(data)),
        "wsgi.input": io.BytesIO(data),
        "wsgi.errors": sys.stderr,
        "REMOTE_ADDR": "192.0.2.7",
    }
    return b"".join(gateway(environ, lambda status, headers, exc_info=None: None))


def call(gateway: Any, target: str, *args: Any, credentials: tuple[str, str] | None = None) -> Any:
    """One AMF0 call, both ways by the codec of amfgate: (ending of the reply's target, value or code of the fault)."""
    import amfgate

    headers = []
    if credentials is not None:
        headers.append(amfgate.Header("Credentials", {"userid": credentials[0], "password": credentials[1]}))
    packet = amfgate.Packet(0, headers, [amfgate.Body(target, "/1", list(args))])
    (body,) = amfgate.Packet.from_bytes(post(gateway, packet.to_bytes())).bodies
    if body.target == "/1/onStatus":
        return "fault", body.value["code"], body.value["description"]
    return "result", body.value


def flex_call(gateway: Any, destination: str, operation: str, *args: Any, credentials: str = "") -> Any:
    """One call of a Flex client: the body of the answer, or the code of the fault."""
    import amfgate

    message = {
        "body": list(args),
        "clientId": None,
        "destination": destination,
        "headers": {"DSId": "nil", "DSEndpoint": None},
        "messageId": "M",
        "operation": operation,
        "source": None,
        "timestamp": 0,
        "timeToLive": 0,
    }
    if credentials:
        message["headers"] = {"DSRemoteCredentials": base64.b64encode(credentials.encode()).decode()}
    typed = amfgate.TypedObject("flex.messaging.messages.RemotingMessage", message)
    packet = amfgate.Packet(3, [], [amfgate.Body("null", "/1", [typed])])
    (body,) = amfgate.Packet.from_bytes(post(gateway, packet.to_bytes())).bodies
    return body.value.get("faultCode", body.value["body"])


def wsgi(pyamf: Any) -> Any:
    return pyamf.remoting.gateway.wsgi.WSGIGateway


def echo(*args: Any) -> Any:
    return list(args)


class Users:
    def __init__(self) -> None:
        self.calls = 0

    def greet(self, name: str) -> str:
        self.calls += 1
        return f"{name} {self.calls}"

    def _hidden(self) -> str:
        return "hidden"


@example
def services(pyamf: Any) -> Any:
    gateway = wsgi(pyamf)({"echo": echo, "users": Users(), "fresh": Users, "com.example.echo": echo})
    return [
        call(gateway, "echo", 1, "two", None),
        call(gateway, "users.greet", "ada"),
        call(gateway, "users.greet", "bob"),
        call(gateway, "fresh.greet", "ada"),  # a class: an instance for each call
        call(gateway, "fresh.greet", "bob"),
        call(gateway, "com.example.echo", 3),
        flex_call(gateway, "users", "greet", "eve"),
    ]


@example
def unknown_services(pyamf: Any) -> Any:
    gateway = wsgi(pyamf)({"users": Users()})
    return call(gateway, "users.none"), call(gateway, "nobody.greet"), call(gateway, "users._hidden")[0]


@example
def services_come_and_go(pyamf: Any) -> Any:
    gateway = wsgi(pyamf)({})
    gateway.addService(echo, "say")
    gateway.addService(echo)
    there = call(gateway, "say", 1), call(gateway, "echo", 2)
    gateway.removeService("say")
    return there, call(gateway, "say", 1)[0], call(gateway, "echo", 2)


@example
def arguments_are_objects_with_attributes(pyamf: Any) -> Any:
    def size(hat: Any) -> Any:
        return [hat.width * 2, isinstance(hat, pyamf.ASObject), hat.inner.deep]

    return call(wsgi(pyamf)({"size": size}), "size", {"width": 4, "inner": {"deep": 1}})


@example
def expose_request_of_the_gateway(pyamf: Any) -> Any:
    def where(request: Any, word: str) -> Any:
        return [request["REMOTE_ADDR"], request["PATH_INFO"], word]

    gateway = wsgi(pyamf)({"where": where}, expose_request=True)
    return call(gateway, "where", "x"), flex_call(wsgi(pyamf)({"a": Where()}, expose_request=True), "a", "where")


class Where:
    def where(self, request: Any) -> Any:
        return request["REMOTE_ADDR"]


@example
def expose_request_of_one(pyamf: Any) -> Any:
    @pyamf.remoting.gateway.expose_request
    def where(request: Any) -> Any:
        return request["REMOTE_ADDR"]

    gateway = wsgi(pyamf)({"where": where, "echo": echo})
    gateway.addService(Where(), "place", expose_request=True)
    return call(gateway, "where"), call(gateway, "echo", 1), call(gateway, "place.where")


@example
def an_authenticator(pyamf: Any) -> Any:
    asked = []

    def check(username: Any, password: Any) -> bool:
        asked.append((username, password))
        return password == "lovelace"

    gateway = wsgi(pyamf)({"echo": echo}, authenticator=check)
    return [
        call(gateway, "echo", 1, credentials=("ada", "lovelace")),
        call(gateway, "echo", 1, credentials=("ada", "wrong")),
        call(gateway, "echo", 1),
        asked,
    ]


@example
def an_authenticator_has_to_say_true(pyamf: Any) -> Any:
    return call(wsgi(pyamf)({"echo": echo}, authenticator=lambda username, password: 1), "echo", 1)


@example
def an_authenticator_of_one(pyamf: Any) -> Any:
    def vault() -> str:
        return "open"

    pyamf.remoting.gateway.authenticate(vault, lambda username, password: password == "x")
    gateway = wsgi(pyamf)({"vault": vault, "echo": echo})
    gateway.addService(Users(), "users", authenticator=lambda username, password: False)
    return [
        call(gateway, "vault"),
        call(gateway, "vault", credentials=("a", "x")),
        call(gateway, "echo"),
        call(gateway, "users.greet", "ada"),
    ]


@example
def a_preprocessor(pyamf: Any) -> Any:
    seen = []

    def before(service_request: Any, *args: Any) -> None:
        seen.append([service_request.method, list(args)])

    gateway = wsgi(pyamf)({"users": Users(), "echo": echo}, preprocessor=before)
    return (
        call(gateway, "users.greet", "ada"),
        call(gateway, "echo", 1),
        flex_call(gateway, "users", "greet", "b"),
        seen,
    )


@example
def a_preprocessor_that_refuses(pyamf: Any) -> Any:
    class Closed(Exception):
        _amf_code = "Shop.Closed"

    def before(service_request: Any) -> None:
        raise Closed("come back tomorrow")

    return call(wsgi(pyamf)({"echo": echo}, preprocessor=before), "echo", 1)


@example
def an_exception_with_a_code(pyamf: Any) -> Any:
    class SoldOut(Exception):
        _amf_code = "Shop.SoldOut"

    def buy() -> None:
        raise SoldOut("this morning")

    return call(wsgi(pyamf)({"buy": buy}), "buy"), flex_call(wsgi(pyamf)({"shop": Shop(SoldOut)}), "shop", "buy")


class Shop:
    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def buy(self) -> None:
        raise self.error("this morning")


# --- what is different on purpose ------------------------------------------------------------------------------------


@different
def bytes_are_byte_arrays(pyamf: Any) -> Any:
    return pyamf.encode(b"ab", encoding=pyamf.AMF3).getvalue().hex()


@different
def undefined_is_false(pyamf: Any) -> Any:
    return bool(pyamf.Undefined)


@different
def a_class_has_one_alias(pyamf: Any) -> Any:
    class One:
        pass

    pyamf.register_class(One, "one.class")
    try:
        return pyamf.register_class(One, "one.more").alias
    except ValueError:
        return "ValueError"


@different
def nothing_is_imported_by_its_name_on_the_wire(pyamf: Any) -> Any:
    """this.py prints when it is imported; it is a module of Python that nothing else imports."""
    sys.modules.pop("this", None)
    data = bytes.fromhex("0a 0b 11") + b"this.Zen" + b"\x01"
    stdout, sys.stdout = sys.stdout, io.StringIO()
    try:
        list(pyamf.decode(data, encoding=pyamf.AMF3))
    except AttributeError:
        pass  # there is no this.Zen
    finally:
        sys.stdout = stdout
    return "this" in sys.modules


@different
def instances_of_unregistered_classes_are_not_sent(pyamf: Any) -> Any:
    class User:
        def __init__(self) -> None:
            self.password = "secret"

    try:
        return b"secret" in pyamf.encode(User(), encoding=pyamf.AMF3).getvalue()
    except pyamf.EncodeError:
        return "EncodeError"


@different
def one_alias_is_one_class(pyamf: Any) -> Any:
    class One:
        pass

    class Two:
        pass

    pyamf.register_class(One, "one.alias")
    try:
        pyamf.register_class(Two, "one.alias")
    except ValueError:
        return "ValueError"


@different
def input_that_breaks_off_is_an_error(pyamf: Any) -> Any:
    try:
        return list(pyamf.decode(bytes.fromhex("090301"), encoding=pyamf.AMF3))
    except pyamf.DecodeError:
        return "DecodeError"


@different
def flex_clients_are_authenticated(pyamf: Any) -> Any:
    return flex_call(wsgi(pyamf)({"users": Users()}, authenticator=lambda *given: False), "users", "greet", "eve")


@different
def the_text_of_exceptions_is_not_sent(pyamf: Any) -> Any:
    def fail() -> None:
        raise LookupError("the table of passwords")

    return call(wsgi(pyamf)({"fail": fail}), "fail")


@different
def inherited_methods_are_not_exposed(pyamf: Any) -> Any:
    class More(Users):
        pass

    return call(wsgi(pyamf)({"more": More()}), "more.greet", "ada")[:2]


def main(name: str) -> None:
    module = importlib.import_module(name)
    for inner in ("amf3", "flex", "remoting.gateway.wsgi"):
        importlib.import_module(f"{name}.{inner}")
    outcomes = {}
    for title, function in {**EXAMPLES, **DIFFERENT}.items():
        try:
            outcomes[title] = function(module)
        except Exception as error:
            outcomes[title] = f"{type(error).__name__}: {error}"
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
