"""What is logged: calls at INFO, faults at ERROR, nothing secret, nothing that could be mistaken for another line."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from wsgi_client import call, packet, post

from amfgate import Fault, Gateway, Header
from amfgate.log import logger, message_of, printable, traceback_text

EVIL = "svc.evil\n2030-01-01 ERROR forged\r\x1b[31m\u2028\udc80"


class Service:
    def echo(self, value: Any) -> Any:
        return value

    def fail(self, text: Any = "secret") -> None:
        raise ValueError(f"cannot use {text}")

    def chain(self, text: str) -> None:
        try:
            self.fail(text)
        except ValueError as error:
            raise RuntimeError("outer") from error

    def fault(self) -> None:
        raise Fault("Mine", "my fault")


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What a plain handler writes for the logger `amfgate`, at INFO and above."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    found: list[str] = []

    class Lines(list[str]):
        def __iter__(self) -> Any:
            return iter(stream.getvalue().split("\n"))

    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    found = Lines()
    yield found
    logger.removeHandler(handler)
    logger.setLevel(before)


def gateway(**options: Any) -> Gateway:
    return Gateway(None, {"svc": Service()}, **options)


def test_each_call_is_a_line_at_info(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="amfgate"):
        post(gateway(), packet(("svc.echo", ["hello"]), ("svc.fault", [])))
    first, second = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert re.fullmatch(r"svc\.echo \d+\.\d{3} ms, 13 bytes in, 8 bytes out", first)
    assert re.fullmatch(r"svc\.fault \d+\.\d{3} ms, 5 bytes in, \d{3} bytes out, Mine", second)


def test_the_milliseconds_are_those_of_the_call(caplog: pytest.LogCaptureFixture) -> None:
    import time

    with caplog.at_level(logging.INFO, logger="amfgate"):
        call(Gateway(None, {"slow": lambda: time.sleep(0.02)}), "slow")
    (message,) = [record.getMessage() for record in caplog.records]
    assert 20.0 <= float(message.split()[1]) < 2000.0


def test_above_info_a_good_call_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="amfgate"):
        call(gateway(), "svc.echo", 1)
    assert caplog.records == []


def test_a_fault_is_logged_at_error_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    call(gateway(), "svc.fail")
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.name == "amfgate"
    assert record.getMessage() == (
        "svc.fail failed: Server.Processing: The call failed; the log of the server says why."
    )
    assert record.exc_info is not None and record.exc_info[0] is ValueError
    assert "Traceback (most recent call last):" in caplog.text
    assert 'raise ValueError(f"cannot use {text}")' in caplog.text
    assert "ValueError: cannot use secret" in caplog.text


def test_a_fault_of_a_service_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    call(gateway(), "svc.fault")
    (record,) = caplog.records
    assert (record.levelno, record.getMessage()) == (logging.ERROR, "svc.fault failed: Mine: my fault")
    assert 'raise Fault("Mine", "my fault")' in caplog.text


def test_what_caused_an_error_is_logged_before_it(caplog: pytest.LogCaptureFixture) -> None:
    call(gateway(), "svc.chain", "this")
    text = caplog.text
    assert text.index("ValueError: cannot use this") < text.index("direct cause of the following") < text.index("outer")


@pytest.mark.parametrize("method", ["fail", "chain"])
def test_text_of_the_wire_cannot_forge_a_line(method: str, lines: list[str]) -> None:
    call(gateway(), f"svc.{method}", EVIL)
    call(gateway(), EVIL)
    text = "\n".join(lines)
    assert r"svc.evil\n2030-01-01 ERROR forged\r\x1b[31m\u2028\udc80" in text
    assert not [line for line in lines if line.startswith("2030")]
    assert all(character.isprintable() for line in lines for character in line)


def test_a_target_in_the_line_of_a_call_is_escaped_and_cut(lines: list[str]) -> None:
    call(gateway(), EVIL)
    call(gateway(), "x" * 10_000)
    found = [line for line in lines if line.startswith("INFO")]
    assert found[0].startswith(r"INFO amfgate svc.evil\n2030-01-01 ERROR forged\r\x1b[31m\u2028\udc80 ")
    assert found[1].startswith("INFO amfgate " + "x" * 500 + "... (10000 characters) ")


def test_what_is_no_packet_is_logged_escaped(lines: list[str]) -> None:
    post(gateway(), b"<html>\nERROR forged\n</html>")
    post(gateway(), b"", CONTENT_LENGTH="5\nERROR forged")
    assert [line for line in lines if line.startswith("ERROR")] == []
    assert len([line for line in lines if line.startswith("WARNING amfgate 400 Bad Request: ")]) == 2


def test_neither_arguments_nor_credentials_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    def check(userid: str, password: str) -> Any:
        return None if password == "wrong-password" else userid

    app = gateway(authenticate=check)
    with caplog.at_level(logging.DEBUG, logger="amfgate"):
        for password in ("wrong-password", "right-password"):
            headers = [Header("Credentials", {"userid": "ada", "password": password})]
            call(app, "svc.echo", "an-argument", headers=headers)
            call(app, "svc.nothing", "an-argument", headers=headers)
    assert len(caplog.records) == 7  # a line for each of four calls, and three faults
    for word in ("wrong-password", "right-password", "an-argument", "ada"):
        assert word not in caplog.text


def test_an_error_that_cannot_be_told_is_logged_by_its_class(caplog: pytest.LogCaptureFixture) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    def fail() -> None:
        raise Mute

    assert call(Gateway(None, {"fail": fail}), "fail").codes == ["Server.Processing"]
    assert "Mute: (its text cannot be made)" in caplog.text


def test_printable() -> None:
    assert printable("käse 日本 '\\'") == "käse 日本 '\\'"
    assert printable("a\tb\x00\u202e") == r"a\tb\x00\u202e"
    assert printable("abcdef", 3) == "abc... (6 characters)"


def test_message_of() -> None:
    assert message_of(ValueError("a\nb")) == r"ValueError: a\nb"
    assert message_of(ValueError()) == "ValueError"


def test_a_chain_of_errors_that_ends_in_itself_ends() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert traceback_text(first).count("ValueError: first") == 1
