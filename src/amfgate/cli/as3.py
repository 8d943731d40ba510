"""`amfgate as3`: the ActionScript 3 of a gateway's classes and services."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from ..actionscript import generate
from ..actionscript.folder import Changes, compare, write
from ..actionscript.names import is_package
from ..actionscript.types import INTEGERS, TARGETS
from ..classes import ClassRegistry, default_registry
from ..errors import AmfError
from ..gateway import Gateway
from ..services import ServiceRegistry
from .loading import load, load_module
from .options import debug_option

_COLLECTIONS: dict[str, bool | str] = {"array": False, "results": True, "deep": "deep"}


@click.command()
@click.argument("module", metavar="MODULE[:NAME]")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("as3"),
    show_default=True,
    help="The source folder that the packages are put into.",
)
@click.option(
    "--target", type=click.Choice(TARGETS), default="flex", show_default=True, help="What compiles it; flex is AIR too."
)
@click.option("--package", default="", help="For what has no package: aliases and services without a dot, Enums.")
@click.option(
    "--int",
    "integers",
    type=click.Choice(INTEGERS),
    default="Number",
    show_default=True,
    help="What a Python int becomes. ActionScript's int has 32 bits and loses what is above; one annotated with bounds "
    "within them is an int anyhow.",
)
@click.option(
    "--collections",
    type=click.Choice(tuple(_COLLECTIONS)),
    help="How lists arrive: as Arrays, as ArrayCollections if they are results, or everywhere. The gateway's "
    "flex_collections says so by itself.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit status 1 if a file would change.")
@click.option("--force", is_flag=True, help="Overwrite files that were not generated, too.")
@debug_option
@click.pass_context
def as3(context: click.Context, /, module: str, output: Path, check: bool, force: bool, **options: Any) -> None:
    """Write value-object classes and service proxies in ActionScript 3, for Flex, AIR and Royale.

    MODULE is a Python module or a file; NAME is a Gateway in it, as the application of a Django project's wsgi.py, a
    Flask application with Amf, `create_app()`, a ServiceRegistry, a mapping of services, or a ClassRegistry. Without
    NAME it is the one gateway or application that the module has; where it has none, the registered classes alone are
    written.

    \b
    amfgate as3 shop:gateway --output src
    amfgate as3 shop.py --target royale --package com.example
    amfgate as3 shop --output src --check        in CI: are the files up to date?

    Each registered class is written in its alias's package, each service `catalog` as a CatalogService with a method
    for each of its own, and RemoteClasses registers all aliases. What may be None and is a number or a boolean is an
    Object, since ActionScript's have no null. A file is overwritten only if its first line says that it was generated.
    """
    classes, services, collections = _registries(module)
    if options["collections"] is not None:
        collections = _COLLECTIONS[options["collections"]]
    if options["package"] and not is_package(options["package"]):
        raise click.UsageError(f"{options['package']!r} cannot be a package of ActionScript")
    made = generate(
        classes,
        services,
        target=options["target"],
        package=options["package"],
        integers=options["integers"],
        collections=collections,
        command=_command(context, module, options),
    )
    for note in made.notes:
        click.echo(f"amfgate: {note}", err=True)
    changes = compare(output, made.files)
    if changes.foreign and not force and not check:
        names = ", ".join(str(output / name) for name in changes.foreign)
        raise AmfError(f"in the way, and not generated: {names}; move it away, or overwrite it with --force")
    if not check:
        write(output, made.files, changes)
    _report(changes, check)
    differ = len(changes.new) + len(changes.changed) + len(changes.foreign)
    number = f"{len(made.files)} file{'' if len(made.files) == 1 else 's'}"
    click.echo(f"{number} in {output}, {differ} {'would change' if check else 'written'}")
    if check and (differ or changes.left_over):
        context.exit(1)


def _report(changes: Changes, check: bool) -> None:
    for what, names in (("new", changes.new), ("changed", changes.changed), ("not generated", changes.foreign)):
        for name in names:
            click.echo(f"{what}: {name}")
    for name in changes.left_over:
        click.echo(f"left over: {name}: the same command wrote it once and does not now; remove it")


def _command(context: click.Context, module: str, options: dict[str, Any]) -> str:
    """The command line that writes the same text: where it is written (--output) is no part of it."""
    words = ["amfgate", "as3", module]
    for parameter in context.command.params:
        value = options.get(parameter.name or "")
        if value is not None and value != parameter.default:
            words += [parameter.opts[0], value]
    return shlex.join(words)


def _registries(module: str) -> tuple[ClassRegistry, ServiceRegistry | None, bool | str]:
    """The classes and services that MODULE or MODULE:NAME means, and the `flex_collections` of the gateway."""
    value = load(module) if ":" in module else _only(load_module(module), module)
    if value is None:
        return default_registry, None, False
    gateway = _gateway(value)
    if gateway is not None:
        return gateway.classes, gateway.services, gateway.flex_collections
    if isinstance(value, ClassRegistry):
        return value, None, False
    if isinstance(value, (Mapping, list, tuple, ServiceRegistry)):
        return default_registry, value if isinstance(value, ServiceRegistry) else ServiceRegistry(value), False
    raise click.UsageError(
        f"{module} is no Gateway, no application with one, no services and no ClassRegistry, but {value!r}"
    )


def _gateway(value: Any) -> Gateway | None:
    """The gateway that a value is, that wraps a Flask application, or that is in one."""
    for one in (value, getattr(value, "wsgi_app", None)):
        if isinstance(one, Gateway):
            return one
    extensions = getattr(value, "extensions", None)
    inner = getattr(extensions.get("amf"), "gateway", None) if isinstance(extensions, dict) else None
    return inner if isinstance(inner, Gateway) else None


def _only(module: ModuleType, name: str) -> Any:
    """The one gateway of a module, or else its one ServiceRegistry; None if it has neither."""
    # Flask's `request` and the like stand for something that is not there now.
    values = {word: value for word, value in vars(module).items() if type(value).__module__ != "werkzeug.local"}
    gateways = {id(found): word for word, value in values.items() if (found := _gateway(value)) is not None}
    registries = {id(value): word for word, value in values.items() if isinstance(value, ServiceRegistry)}
    words = list((gateways or registries).values())
    if len(words) > 1:
        raise click.UsageError(f"{name} has several; say which: {', '.join(f'{name}:{word}' for word in words)}")
    if not words:
        click.echo(f"amfgate: {name} has no gateway; name its services as {name}:NAME. Classes alone:", err=True)
        return None
    return values[words[0]]
