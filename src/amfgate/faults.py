"""Which exceptions are meant for the caller, and what is told of them: `Gateway(..., faults={...})`.

    Gateway(app, services, faults={
        LookupError: "Shop.NoSuchThing",
        PermissionError: ("Client.Authorization", "you may not do that"),
        SoldOut: lambda error: Fault("Shop.SoldOut", str(error), extended_data={"left": 0}),
    })

The key is the class of an exception; of several the nearest to the exception's own class counts, in the order of its
bases.  What stands behind it is

- a code: the exception's text is the description.  Think of what the text says: that of an OSError has the path.
- a code and a description: the exception's own text is not told.
- a function of the exception: it gives one of these, or a whole Fault, or None for an exception that the caller is not
  to hear of after all.

With a code, an attribute `extended_data` of the exception goes as the fault's.  An exception whose class is registered
(`amfgate.remote_class`) goes as the fault's root cause; see `amfgate.envelope.root_cause`.

What is not in the mapping stays `Server.Processing` without a word of the exception.  A Fault needs no entry, it is
told as it is.  That a value cannot be encoded is an EncodeError, which is a ValueError by inheritance: an entry for
ValueError does not mean it, nor a DecodeError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from .errors import AmfError, Fault, said
from .log import log_error, message_of

Told = str | tuple[str, str] | Callable[[Any], Any]
Faults = Mapping[type[Exception], Told]


def check_faults(faults: Faults | None) -> dict[type[Exception], Told]:
    """The mapping, copied and looked at; TypeError or ValueError for an entry that could not be used."""
    if faults is None:
        return {}
    if not isinstance(faults, Mapping):
        raise TypeError(f'faults is a mapping of exceptions to codes, {{KeyError: "Shop.NoSuchThing"}}, not {faults!r}')
    for cls, told in faults.items():
        if not isinstance(cls, type) or not issubclass(cls, BaseException):
            raise TypeError(f"faults: {cls!r} is no class of exceptions, such as KeyError")
        name = cls.__qualname__
        if not issubclass(cls, Exception):
            raise TypeError(f"faults: {name} is no Exception: it ends a worker or a request, and answers no call")
        if issubclass(cls, Fault):
            raise TypeError(f"faults: {name} is a Fault, which is told as it is; leave it out")
        if isinstance(told, Fault):
            raise TypeError(
                f"faults: {name} has a Fault, one for all calls; give its code and description, "
                f"({told.code!r}, {told.description!r}), or a function that makes one: lambda error: Fault(...)"
            )
        if not callable(told):
            _fault(told, Exception(), f"faults: {name} has")
    return dict(faults)


def mapped(error: Exception, faults: Mapping[type[Exception], Told]) -> Fault | None:
    """The fault that `faults` has for `error`; None if it is not meant for the caller.

    The error is the fault's `__cause__`.  A function that raises, or gives something else than it should, and an
    `extended_data` that raises are logged, and the error is not told.
    """
    for cls in type(error).__mro__:
        told = faults.get(cls)
        if told is not None and not (cls is ValueError and isinstance(error, AmfError)):
            break
    else:
        return None
    fault: Any
    try:
        if not callable(told):
            fault = _fault(told, error, "")
        else:
            fault = told(error)
            if fault is None:
                return None
            if isinstance(fault, Fault):
                fault = _copy(fault)
            else:
                fault = _fault(fault, error, f"the function for {cls.__qualname__} gave")
    except Exception as failed:  # of the program's own code: nothing here may fail the other calls of a packet
        log_error(f"faults: {cls.__qualname__} could not be made a fault: {message_of(failed)}", failed)
        return None
    if fault.__cause__ is None:
        fault.__cause__ = error
    return cast("Fault", fault)


def _fault(told: Any, error: Exception, whose: str) -> Fault:
    """The fault of a code, or a code and a description; TypeError or ValueError, about `whose`, for anything else."""
    code, description = told if isinstance(told, tuple) and len(told) == 2 else (told, None)
    if not isinstance(code, str) or not isinstance(description, str | None):
        raise TypeError(
            f'{whose} {told!r}; it has to be a code, "Shop.SoldOut", a code and a description, or a function of the '
            "exception that gives a Fault"
        )
    if not code:
        raise ValueError(f'{whose} an empty code; it is what programs look at: "Shop.SoldOut"')
    if description is None:
        description = _text_of(error)
    return Fault(code, description, extended_data=getattr(error, "extended_data", None))


def _copy(fault: Fault) -> Fault:
    """The same fault once more: a function may give one for all calls, and each call has a cause of its own."""
    copy = type(fault).__new__(type(fault), *fault.args)
    copy.__dict__.update(fault.__dict__)
    copy.__cause__ = fault.__cause__
    return copy


def _text_of(error: Exception) -> str:
    """What an exception says; of a KeyError, which says the repr of its key, the key's own text."""
    if isinstance(error, KeyError) and type(error).__str__ is KeyError.__str__ and len(error.args) == 1:
        return said(error.args[0])
    return said(error)
