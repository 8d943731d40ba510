"""Proxies: for each service a class with its methods, over RemoteObject."""

from __future__ import annotations

import inspect
from typing import Final, NamedTuple

from ..arguments import Parameter, signature_of
from ..members import doc_lines
from ..services import Method, ServiceRegistry
from .literals import constant
from .names import INHERITED, comment, free, package_of, simple, string
from .source import Scope
from .types import UNSET, AsType, Translator, described

_OWN: Final = frozenset({"remoteObject", "send"}) | INHERITED
_IMPORTS: Final = (
    "mx.messaging.ChannelSet",
    "mx.rpc.AbstractOperation",
    "mx.rpc.AsyncToken",
    "mx.rpc.remoting.RemoteObject",
)


class Service(NamedTuple):
    """One destination, and its methods by operation."""

    destination: str
    methods: dict[str, Method]


def services_of(registry: ServiceRegistry) -> tuple[list[Service], list[str]]:
    """The services, sorted, and the targets that have no destination: RemoteObject cannot call those."""
    found: dict[str, Service] = {}
    without = []
    for target in registry:
        method = registry.methods[target]
        destination, _, operation = target.rpartition(".")
        if not destination:
            without.append(target)
            continue
        found.setdefault(destination, Service(destination, {})).methods[operation] = method
    return [found[destination] for destination in sorted(found)], without


def unlike(services: list[Service], collections: bool | str) -> list[str]:
    """The targets whose lists inside results are not as those of the others: no member has a type for both."""
    deep = collections == "deep"
    return [
        method.target
        for service in services
        for method in service.methods.values()
        if method.flex_collections is not None and (method.flex_collections == "deep") != deep
    ]


def proxy_types(name: str, service: Service, translator: Translator) -> set[str]:
    """The types that the proxy of this name mentions."""
    translator.home = package_of(name)
    found = set(_IMPORTS)
    for method in service.methods.values():
        found.update(_type(parameter, translator).name for parameter in method.binder.parameters)
        translator.type_of(method.binder.returns)  # an Enum there becomes known
    return found - {"*"}


def proxy_text(service: Service, scope: Scope, translator: Translator, register: str, collections: bool | str) -> str:
    """The class, without its package.

    register: the class that makes the aliases known, "" if there are none.
    collections: how lists in results are sent, as the gateway's `flex_collections`.
    """
    name = simple(scope.own)
    about = _about(service)
    parts = [
        comment(
            [
                *about,
                *([""] if about else []),
                "Each method calls the server and returns the token of the call: add a responder to it for the result",
                "and the fault. An argument that is left out is not sent, and the server takes its own default.",
            ]
        ),
        f"public class {name}\n{{\n",
        comment(["Makes the calls: credentials, channels, timeouts and listeners for all calls are set here."], "    "),
        f"    public var remoteObject:{scope.name(_IMPORTS[3])};\n\n",
        _constructor(service, name, scope, register),
    ]
    taken = {*_OWN, name}
    for operation, method in service.methods.items():
        word = free(operation, taken)
        taken.add(word)
        parts.append(_method(word, operation, method, scope, translator, collections))
    parts.append(
        f"\n    private function send(operationName:String, parameters:Array):{scope.name(_IMPORTS[2])}\n"
        "    {\n"
        f"        const operation:{scope.name(_IMPORTS[1])} = remoteObject.getOperation(operationName);\n"
        "        return operation.send.apply(operation, parameters);\n"
        "    }\n}\n"
    )
    return "".join(parts)


def _about(service: Service) -> list[str]:
    """The docstring of the object, or module, that the service is."""
    method = next(iter(service.methods.values())).function
    owner = getattr(method, "__self__", None)
    if owner is None or inspect.ismodule(owner):
        return []
    cls = owner if isinstance(owner, type) else type(owner)
    return doc_lines(cls)


def _constructor(service: Service, name: str, scope: Scope, register: str) -> str:
    channels = scope.name(_IMPORTS[0])
    return (
        comment(
            [
                "@param endpoint The URL of the gateway, or a ChannelSet; null where services-config.xml says it.",
                "@param destination The name of the service.",
            ],
            "    ",
        )
        + f"    public function {name}(endpoint:Object = null, destination:String = {string(service.destination)})\n"
        + "    {\n"
        + (f"        {scope.name(register)}.register();\n" if register else "")
        + f"        remoteObject = new {scope.name(_IMPORTS[3])}(destination);\n"
        + f"        if (endpoint is {channels})\n"
        + f"            remoteObject.channelSet = {channels}(endpoint);\n"
        + "        else if (endpoint != null)\n"
        + "            remoteObject.endpoint = String(endpoint);\n"
        + "    }\n"
    )


def _type(parameter: Parameter, translator: Translator) -> AsType:
    return translator.type_of(parameter.annotation, nullable=parameter.default is None)


def _method(
    word: str, operation: str, method: Method, scope: Scope, translator: Translator, collections: bool | str
) -> str:
    parameters = method.binder.parameters
    signature, _ = signature_of(method.function, method.target)
    rest = [one.name for one in signature.parameters.values() if one.kind is one.VAR_POSITIONAL]
    declared, names, lines = [], [], []
    taken: set[str] = {"arguments", "rest"}
    for parameter in parameters:
        found = _type(parameter, translator)
        note = described(parameter.annotation)
        if not parameter.required:
            default = constant(parameter.default)
            note += f"{', ' if note else ''}by default {default if default is not None else 'as the server has it'}"
        if rest and not parameter.required:  # of those in front of `...` ActionScript does not tell which were given
            lines.append(f"@param rest First {parameter.name}: {note}")
            continue
        name = free(parameter.name, taken)
        taken.add(name)
        names.append(name)
        start = ""
        if not parameter.required:
            # Of what is left out this is not sent, but ActionScript wants it.
            start = f" = {UNSET.get(found.name, 'null') if default in (None, 'null') else default}"
        declared.append(f"{name}:{scope.name(found.name)}{start}")
        lines.append(f"@param {name} {note}".rstrip())
    if rest:
        declared.append("...rest")
        lines.append(f"@param rest {'Then ' if len(names) < len(parameters) else ''}{', '.join(rest)}")
    sent = f"[{', '.join(names)}]"
    if rest:
        sent = f"{sent}.concat(rest)" if names else "rest"
    elif any(not parameter.required for parameter in parameters):
        sent = f"{sent}.slice(0, arguments.length)"
    doc = method.description.split("\n") if method.description else []
    if method.requires:
        doc += [*([""] if doc else []), f"Requires {' and '.join(map(repr, method.requires))}."]
    lines.append(_returns(method, translator, collections))
    return (
        "\n"
        + comment([*doc, *([""] if doc else []), *lines], "    ")
        + f"    public function {word}({', '.join(declared)}):{scope.name(_IMPORTS[2])}\n"
        + "    {\n"
        + f"        return send({string(operation)}, {sent});\n"
        + "    }\n"
    )


def _returns(method: Method, translator: Translator, collections: bool | str) -> str:
    annotation = method.binder.returns
    wanted = collections if method.flex_collections is None else method.flex_collections
    found = translator.result_of(annotation, bool(wanted))
    if annotation in (None, type(None)):
        return "@return The result is null."
    if annotation is inspect.Signature.empty:
        return "@return The result is what the method returns; it has no annotation."
    python = described(annotation) or "Any"
    if python == simple(found.name):
        return f"@return The result is {python}."
    element = f" of {simple(found.element)}" if found.element else ""
    return f"@return The result is {python}, in ActionScript {simple(found.name)}{element}."
