"""What Django's views raise for their clients, as faults: the defaults of `gateway(faults=...)`.

PermissionDenied        Client.Authorization      its text
Http404                 Server.ResourceNotFound   its text
BadRequest              Client.BadRequest         its text
ValidationError         Client.Validation         its messages; its `message_dict`, if it has one, as extended data
RequestDataTooBig       Client.RequestEntityTooLarge
SuspiciousOperation     Client.BadRequest         not its text, which is for the log (DisallowedHost names the setting)

They are asked about whatever is raised, by a method, by `requires`, or by the middleware.  ObjectDoesNotExist is
not among them: Django takes it for a mistake of the program too.  Who does not adds it:

    AMFGATE = {"FAULTS": {"django.core.exceptions.ObjectDoesNotExist": "Server.ResourceNotFound"}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.core.exceptions import (
    BadRequest,
    ImproperlyConfigured,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    ValidationError,
)
from django.http import Http404
from django.utils.module_loading import import_string

from ...errors import Fault, said
from ...faults import Faults, Told


def _invalid(error: ValidationError) -> Fault:
    by_field = error.message_dict if hasattr(error, "error_dict") else None
    if by_field is None:
        said_in_all = [str(message) for message in error.messages]
    else:
        by_field = {field: [str(message) for message in messages] for field, messages in by_field.items()}
        said_in_all = [f"{field}: {message}" for field, messages in by_field.items() for message in messages]
    return Fault("Client.Validation", "; ".join(said_in_all), extended_data=by_field)


FAULTS: Final[Faults] = {
    PermissionDenied: lambda error: ("Client.Authorization", said(error) or "the user may not make this call"),
    Http404: lambda error: ("Server.ResourceNotFound", said(error) or "there is no such thing"),
    BadRequest: lambda error: ("Client.BadRequest", said(error) or "the request cannot be served"),
    ValidationError: _invalid,
    RequestDataTooBig: ("Client.RequestEntityTooLarge", "the request is larger than this server reads"),
    SuspiciousOperation: ("Client.BadRequest", "the request cannot be served"),
}


def faults_of(given: Any) -> dict[type[Exception], Told]:
    """FAULTS, with those of the settings or of an argument, which win; their exceptions may be dotted names."""
    if given is not None and not isinstance(given, Mapping):
        raise ImproperlyConfigured(f"AMFGATE['FAULTS'] is a dict of exceptions to codes, not {given!r}")
    faults = dict(FAULTS)
    for key, told in (given or {}).items():
        cls = key
        if isinstance(key, str):
            try:
                cls = import_string(key)
            except ImportError as error:
                raise ImproperlyConfigured(f"AMFGATE['FAULTS']: {error}") from error
        faults[cls] = told
    return faults
