"""Which services a project has: those of its `amf_services` modules, and those that its settings name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Final

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string, module_has_submodule

from ...services import SERVICE, ServiceRegistry

MODULE: Final = "amf_services"


def discover(named: Mapping[str, Any] | None = None) -> ServiceRegistry:
    """The services of all installed apps, and those of `named`: names to objects or to dotted paths.

    Of a module `amf_services` it takes what `@amfgate.service` decorated: classes, which are instantiated, their
    instances, and functions.  That is what stands in the module's `__all__`, or what the module itself defines:
    a service that it only imports is not served twice, and a base class not at all.
    """
    registry = ServiceRegistry([thing for module in _modules() for thing in _services_of(module)])
    for name, thing in (named or {}).items():
        if isinstance(thing, str):
            try:
                thing = import_string(thing)
            except ImportError as error:
                raise ImproperlyConfigured(f"AMFGATE['SERVICES'][{name!r}]: {error}") from error
        registry.add(name, thing() if isinstance(thing, type) else thing)
    return registry


def _modules() -> Iterator[ModuleType]:
    for config in apps.get_app_configs():
        if config.module is not None and module_has_submodule(config.module, MODULE):
            yield importlib.import_module(f"{config.name}.{MODULE}")


def _services_of(module: ModuleType) -> list[Any]:
    listed = getattr(module, "__all__", None)
    found = [
        thing
        for thing in (vars(module).values() if listed is None else [getattr(module, name) for name in listed])
        if _is_service(thing) and (listed is not None or _home_of(thing) == module.__name__)
    ]
    # An instance stands for its class: it was made with arguments.
    made = {type(thing) for thing in found if not isinstance(thing, type)}
    return list({id(thing): thing for thing in found if not (isinstance(thing, type) and thing in made)}.values())


def _is_service(thing: Any) -> bool:
    """Is it decorated itself?  A class that inherits from a service is not, until it has a name of its own."""
    own = getattr(thing, "__dict__", {})
    return SERVICE in own or not isinstance(thing, type) and SERVICE in vars(type(thing))


def _home_of(thing: Any) -> Any:
    own = getattr(thing, "__dict__", {})
    return getattr(thing if SERVICE in own else type(thing), "__module__", None)
