"""How results and faults are put into a reply: the plain envelope of remoting, and what a client may see of an error.

A call carries its envelope from the moment it is known what kind of client made it (`call.envelope`).  Whoever answers
the call, the last action, a filter or the encoder that cannot write a result, goes through it, so that every answer
has the shape that this client reads.  `amfgate.filters.flex` has the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from .errors import EncodeError, Fault
from .faults import mapped
from .flex.collections import collected
from .log import message_of, traceback_text
from .packet import Body

if TYPE_CHECKING:
    from .gateway import Gateway
    from .pipeline import Call

UNEXPECTED: Final = "The call failed; the log of the server says why."


class Envelope(Protocol):
    """What `call.envelope` has to offer: the reply body for the result or the fault of a call."""

    def result(self, call: Call) -> Body: ...

    def fault(self, call: Call, fault: Fault) -> Body: ...


class PlainEnvelope:
    """The reply to NetConnection.call: `<uri>/onResult` with the value, or `<uri>/onStatus` with an error object."""

    __slots__ = ()

    def result(self, call: Call) -> Body:
        result = sent_result(call) if call.gateway.services.collects else call.result
        return Body(call.uri + "/onResult", "null", result)

    def fault(self, call: Call, fault: Fault) -> Body:
        return Body(call.uri + "/onStatus", "null", fault_value(fault, root_cause(fault, call.gateway)))


PLAIN: Final = PlainEnvelope()


def sent_result(call: Call) -> Any:
    """The result of a call as an envelope is to send it: a list as an ArrayCollection where that is wanted.

    With `"deep"` that is left to the encoder, which wraps the lists inside too.  An envelope need not ask while
    `services.collects` says that nobody wants it.
    """
    if collections_wanted(call) is True:
        request = call.exchange.request
        if request is not None and request.version == 3:  # AMF0 has no collections
            return collected(call.result, call.gateway.classes)
    return call.result


def collections_wanted(call: Call) -> bool | str:
    """How lists in the answer to a call go: what is said nearest counts, of the method, its service, the gateway.

    An answer without a method, of a channel's command or DescribeService, has the shape that its protocol gives it.
    """
    method = call.method
    if method is None:
        return False
    wanted = method.flex_collections
    return call.gateway.flex_collections if wanted is None else wanted


def as_fault(error: Exception, gateway: Gateway) -> Fault:
    """What the caller is told about `error`.

    A Fault is told as it is, and an exception for which the gateway has a fault by that: see `amfgate.faults`.
    Anything else was not meant for the caller: it becomes `Server.Processing`, and its class, text and traceback are
    told only with `debug`.

    What a result raises while it is written, a generator or a lazy query, comes here inside an EncodeError, and counts
    as if the method had raised it.
    """
    cause = error.__cause__ if isinstance(error, EncodeError) else None
    for reason in (cause, error) if isinstance(cause, Exception) else (error,):
        fault = reason if isinstance(reason, Fault) else mapped(reason, gateway.faults)
        if fault is not None:
            return fault
    if gateway.debug:
        return Fault("Server.Processing", message_of(error), details=traceback_text(error))
    return Fault("Server.Processing", UNEXPECTED)


def root_cause(fault: Fault, gateway: Gateway) -> Any:
    """What is sent as the root cause of a fault: the one that it was given, or an exception as a typed object.

    That is the fault itself if its class is registered with the gateway's `classes`, else the exception that it was
    raised from (`raise Fault(...) from error`, and what `Gateway(faults=...)` makes a fault of) if that one's is.  An
    exception of another class is never sent.
    """
    if fault.root_cause is not None:
        return fault.root_cause
    for error in (fault, fault.__cause__):
        if type(error) in gateway.classes:
            return error
    return None


def fault_value(fault: Fault, cause: Any = None) -> dict[str, Any]:
    """The error object of a plain reply: the members of Flash remoting, and those that newer clients read.

    `cause` is its root cause.  `extendedData` is there only if the fault has some.
    """
    value = {
        "code": fault.code,
        "level": "error",
        "description": fault.description,
        "details": fault.details,
        "type": type(fault).__name__,
        "rootcause": cause,
        "faultCode": fault.code,
        "faultString": fault.description,
        "faultDetail": fault.details,
    }
    if fault.extended_data is not None:
        value["extendedData"] = fault.extended_data
    return value
