"""What can go wrong, and what an error tells.

Two families.  `AmfError` is about bytes and values: a `DecodeError` knows the offset at which the input stopped
making sense, an `EncodeError` the path of the value that has no place on the wire.  `Fault` is about calls: what a
service raises to answer its caller, and what a client sees.
"""

from __future__ import annotations

from typing import Any


class AmfError(Exception):
    """Base of what the codec, packets and shared objects raise for bad bytes or values."""


class DecodeError(AmfError, ValueError):
    """The input is not what it should be.

    `message` says what was found and what was expected, `offset` is where: bytes from the start of the input, or
    None when the input as a whole is at fault.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message, offset)
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        return self.message if self.offset is None else f"{self.message}, at offset {self.offset}"


class EncodeError(AmfError, ValueError):
    """A value cannot be sent exactly.

    `message` says why, `path` which: `$` is the value given to the encoder, `.name` a member, `[3]` an item; `hint`
    what could be done about it.
    """

    def __init__(self, message: str, path: str | None = None, hint: str = "") -> None:
        super().__init__(message, path, hint)
        self.message = message
        self.path = path
        self.hint = hint

    def __str__(self) -> str:
        place = "" if self.path is None else f" at {self.path}"
        return f"{self.message}{place}{': ' + self.hint if self.hint else ''}"


def said(error: object) -> str:
    """An error's own text, for another error's message; its class has the last word on `str`, and may fail."""
    try:
        return str(error)
    except Exception:
        return "(its text cannot be had)"


class Fault(Exception):
    """An answer to a call that is not its result: raise it in a service to tell the caller what went wrong.

    `code` is for programs (`"Client.Authentication"`, `"Shop.SoldOut"`), `description` for people; `details` is more
    text, `root_cause` and `extended_data` are any values that can be sent.  What is in a Fault is sent as it is: put
    nothing in it that the caller must not read.

        raise amfgate.Fault("Shop.SoldOut", "the last one went this morning")

    A program that wants to catch its own classes of faults in ActionScript gets them as the root cause: a registered
    exception that the fault was raised from, or a registered subclass of Fault, whose own attributes then travel.

        @amfgate.remote_class("com.shop.SoldOut")
        class SoldOut(amfgate.Fault):
            def __init__(self, product: int) -> None:
                super().__init__("Shop.SoldOut", "the last one went this morning")
                self.product = product
    """

    def __init__(
        self,
        code: str,
        description: str = "",
        *,
        details: str = "",
        root_cause: Any = None,
        extended_data: Any = None,
    ) -> None:
        super().__init__(code, description)
        self.code = code
        self.description = description
        self.details = details
        self.root_cause = root_cause
        self.extended_data = extended_data

    def __str__(self) -> str:
        return f"{self.code}: {self.description}" if self.description else f"{self.code}"
