"""From the arguments of a call to those of a method: how many, and of which types.

Everything about a signature is worked out once, when the service is registered: how many arguments it takes,
which of them have annotations and how each is converted, which parameters are filled from the call itself.  What is
left for a request is a comparison of two numbers and, for a parameter annotated with a scalar, of two classes.
Instances that the client sent are fitted to what their classes declare (`fitting`).

Conversion is `msgspec.convert`, strict: a number is no text, 1 is no boolean, an unknown enum value is an error, and
dataclasses, attrs classes, Structs, TypedDicts and generic containers are built from plain objects and arrays.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Final

from .classes import ClassRegistry, default_registry
from .errors import Fault
from .fitting import Fitting, Misfit, class_of, converter, exact_class, fit_of
from .log import printable
from .members import type_name

__all__ = ["Binder", "Parameter", "converter", "signature_of"]

UNBOUNDED: Final = 1 << 62


class Parameter:
    """One parameter that a caller fills: its name, whether it has to be given, its annotation, how it is converted."""

    __slots__ = ("annotation", "default", "exact", "fit", "name", "required")

    def __init__(self, name: str, annotation: Any, default: Any, where: str) -> None:
        self.name = name
        self.annotation = annotation
        self.default = default
        self.required = default is inspect.Parameter.empty
        if default is None and annotation is not inspect.Parameter.empty:
            annotation = typing.Optional[annotation]  # noqa: UP045 (works for whatever can be annotated)
        try:
            self.fit = fit_of(annotation)
        except (TypeError, ValueError, NameError, AttributeError) as error:
            raise TypeError(f"{where}: the annotation of {name!r} cannot be converted to: {error}") from error
        # A value of just this class needs no look at all: the most frequent case costs one comparison.
        self.exact = exact_class(self.fit)

    @property
    def type_name(self) -> str:
        return type_name(self.annotation)


class Binder:
    """Fits the arguments of a call to one method: `bind(call)` sets its `args` and `keywords`, or raises Fault.

    Where no parameter is converted or filled in, there is nothing to do for as many arguments as are in `fits`.
    """

    __slots__ = (
        "_checked",
        "_injected",
        "_keywords",
        "_least",
        "_looks",
        "_most",
        "_rest",
        "_where",
        "fits",
        "parameters",
        "returns",
    )

    def __init__(self, function: Callable[..., Any], where: str) -> None:
        signature, hints = signature_of(function, where)
        self._where = where
        self.parameters: list[Parameter] = []
        self.returns = hints.get("return", inspect.Signature.empty)
        self._rest: Parameter | None = None
        injected: list[tuple[int, Callable[[Any], Any]]] = []
        keywords: list[tuple[str, Callable[[Any], Any]]] = []
        for name, parameter in signature.parameters.items():
            annotation = hints.get(name, inspect.Parameter.empty)
            filled = _from_call(annotation)
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                self._rest = Parameter(name, annotation, inspect.Parameter.empty, where)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                if filled is not None:
                    keywords.append((name, filled))
                elif parameter.default is parameter.empty:
                    raise TypeError(
                        f"{where} cannot be called: its parameter {name!r} is taken by keyword only, and arguments "
                        "come without names; give it a default or move it before the *"
                    )
            elif filled is not None:
                injected.append((len(self.parameters) + len(injected), filled))
            else:
                self.parameters.append(Parameter(name, annotation, parameter.default, where))
        self._least = sum(parameter.required for parameter in self.parameters)
        self._most = len(self.parameters) if self._rest is None else UNBOUNDED
        self._checked = tuple(
            (place, parameter.exact, parameter)
            for place, parameter in enumerate(self.parameters)
            if parameter.fit is not None
        )
        # As many arguments as a caller likes are converted to the annotation of *rest, and all may be one list.
        self._looks = any(parameter.fit is not None and not parameter.fit.alone for parameter in self.parameters) or (
            self._rest is not None and self._rest.fit is not None
        )
        self._injected = tuple(injected)
        self._keywords = tuple(keywords)
        converts = self._rest is not None and self._rest.fit is not None
        work = self._checked or self._injected or self._keywords or converts
        self.fits = range(0) if work else range(self._least, self._most + 1)

    def bind(self, call: Any) -> None:
        args = call.args
        given = len(args)
        if given < self._least or given > self._most:
            raise self._wrong_number(given)
        fitting: Fitting | None = None
        if self._checked:
            copied = False
            for place, exact, parameter in self._checked:
                if place >= given:
                    break
                value = args[place]
                if value.__class__ is not exact:
                    if not copied:
                        # The array itself may be among the values of its items.
                        args = call.args = list(args)
                        copied = True
                        fitting = Fitting(_classes_of(call)) if self._looks else None
                    args[place] = self._fitted(parameter, value, fitting)
        rest = self._rest
        if rest is not None and rest.fit is not None and given > len(self.parameters):
            args = call.args = self._fitted_rest(rest, args, fitting or Fitting(_classes_of(call)))
        if self._injected:
            args = list(args)
            for place, fill in self._injected:
                while len(args) < place:  # left out by the caller, in front of one that is filled in
                    args.append(self.parameters[len(args) - self._injected_before(len(args))].default)
                args.insert(place, fill(call))
            call.args = args
        if self._keywords:
            call.keywords = {name: fill(call) for name, fill in self._keywords}

    def _injected_before(self, place: int) -> int:
        return sum(injected < place for injected, _ in self._injected)

    def _fitted_rest(self, rest: Parameter, args: list[Any], fitting: Fitting) -> list[Any]:
        known = len(self.parameters)
        return [*args[:known], *(self._fitted(rest, value, fitting) for value in args[known:])]

    def _fitted(self, parameter: Parameter, value: Any, fitting: Fitting | None) -> Any:
        assert parameter.fit is not None
        try:
            value = parameter.fit(value, None, fitting)
            if fitting is not None:
                fitting.run()
            return value
        except Misfit as error:
            raise self._misfit(parameter, error.path, error.reason) from error
        except RecursionError:
            raise self._misfit(parameter, "", "it nests too deep, or contains itself") from None

    def _misfit(self, parameter: Parameter, place: str, reason: str) -> Fault:
        at = f" {printable(place)}" if place else ""
        return Fault("Client.Arguments", f"{self._where}: argument {parameter.name!r}{at}: {printable(reason)}")

    def _wrong_number(self, given: int) -> Fault:
        named = ", ".join(
            parameter.name if parameter.required else f"{parameter.name}=" for parameter in self.parameters
        )
        if self._rest is not None:
            named += f"{', ' if named else ''}*{self._rest.name}"
        takes = f"{self._where}({named})"
        if given < self._least:
            missing = ", ".join(repr(p.name) for p in self.parameters[given:] if p.required)
            return Fault("Client.Arguments", f"{takes}: {given} arguments were given; missing: {missing}")
        return Fault("Client.Arguments", f"{takes}: {given} arguments were given, {given - self._most} too many")


def _classes_of(call: Any) -> ClassRegistry:
    gateway = getattr(call, "gateway", None)
    return default_registry if gateway is None else gateway.classes


def signature_of(function: Callable[..., Any], where: str) -> tuple[inspect.Signature, dict[str, Any]]:
    """The signature of a function and its annotations, those that are text made into what they name.

    A builtin that does not tell its signature takes any arguments.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:
        return inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)]), {}
    plain = _plain_function(function)
    try:
        return signature, typing.get_type_hints(plain, include_extras=True)
    except Exception:
        pass
    # One of them cannot be made out; which one?
    hints: dict[str, Any] = {}
    scope = getattr(plain, "__globals__", {})
    texts = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    for name, annotation in texts.items():
        if annotation is inspect.Parameter.empty:
            continue
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            hints.update(typing.get_type_hints(holder, scope, include_extras=True))
        except Exception as error:
            raise TypeError(
                f"{where}: the annotation {annotation!r} of {name!r} cannot be made out ({error}); "
                "its names have to be there at run time, in the module of the function: not under TYPE_CHECKING "
                "nor inside another function"
            ) from error
    return signature, hints


def _plain_function(function: Any) -> Any:
    """The function that has the annotations, below partials, methods, wrappers and callable objects."""
    while True:
        if isinstance(function, (functools.partial, functools.partialmethod)):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif inspect.isroutine(function):
            return function
        else:
            function = type(function).__call__


def _from_call(annotation: Any) -> Callable[[Any], Any] | None:
    """How a parameter of this annotation is filled from the call; None if the caller fills it.

    Call and Exchange say so by `__from_call__`, and so may a class of anybody's; `Call | None` means Call.
    """
    return typing.cast("Callable[[Any], Any] | None", getattr(class_of(annotation), "__from_call__", None))
