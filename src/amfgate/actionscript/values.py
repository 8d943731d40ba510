"""Value objects: a class of ActionScript for each registered class, and one of constants for each Enum."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..errors import AmfError
from ..fields import Constant, declared_defaults, fields_of
from ..members import Member, doc_lines, members_of
from ..plans import EXTERNAL, Plan
from .literals import constant, expression
from .names import comment, free, is_member, package_of, simple, string
from .source import Scope
from .types import ANY, COLLECTION, UNSET, AsType, Translator, described, is_optional


class Variable(NamedTuple):
    """One member as the class declares it: name on the wire, type, how it starts ("" for nothing), comment."""

    name: str
    type: AsType
    start: str
    about: str


class ValueClass(NamedTuple):
    """All that is written of one registered class.

    base: the class that it extends, "" for none.  variables: without those of the base.
    every: with them.  notes: what the user has to know, each for the comment and for the screen.
    """

    name: str
    plan: Plan
    base: str
    variables: tuple[Variable, ...]
    every: dict[str, Variable]
    notes: tuple[str, ...]

    @property
    def used(self) -> set[str]:
        """The types that the file mentions."""
        found = {self.base} if self.base else set()
        return found.union(variable.type.name for variable in self.variables) - {"*"}


def value_classes(plans: Collection[Plan], translator: Translator) -> list[ValueClass]:
    """The classes of these plans, bases first, else in their order; those that write themselves are left out.

    AmfError for a member that ActionScript cannot declare.
    """
    done: dict[type, ValueClass] = {}
    for plan in sorted(plans, key=lambda plan: len(plan.cls.__mro__)):
        if plan.form != EXTERNAL:
            done[plan.cls] = _value_class(plan, translator, done)
    return [done[plan.cls] for plan in plans if plan.cls in done]


def _value_class(plan: Plan, translator: Translator, done: Mapping[type, ValueClass]) -> ValueClass:
    name = translator.names[plan.cls]
    translator.home = package_of(name)
    makers = declared_defaults(plan.cls) if fields_of(plan.cls) is not None else {}
    every: dict[str, Variable] = {}
    for member in members_of(plan):
        if not is_member(member.name) or member.name == simple(name):
            raise AmfError(
                f"{plan.cls.__qualname__} ({plan.alias}): ActionScript cannot declare a member named {member.name!r}; "
                f"give it another name on the wire, register(..., rename={{{member.attribute!r}: ...}}), or exclude it"
            )
        maker = makers.get(member.attribute)
        made = maker is not None and not isinstance(maker, Constant)
        every[member.name] = _variable(member, made, translator)
    base, notes = _base(plan, every, translator, done)
    inherited = done[base].every if base is not None else {}
    if plan.names is None and not plan.declared:
        notes.append("The Python class declares no members: annotate them, and they are declared here.")
    return ValueClass(
        name,
        plan,
        "" if base is None else done[base].name,
        tuple(variable for variable in every.values() if variable.name not in inherited),
        {**inherited, **every},
        tuple(notes),
    )


def _variable(member: Member, made: bool, translator: Translator) -> Variable:
    """made: the default is made by a function."""
    absent = not member.required and member.default is None and not made
    found = translator.type_of(member.annotation, nullable=absent)
    about = described(member.annotation)
    if about in ("str", "bool", "float", simple(found.name)):
        about = ""
    sentences = []
    start = "" if member.required else expression(member.default, found)
    if made and not is_optional(member.annotation):
        start = {"Array": "[]", COLLECTION: f"new {COLLECTION}()", "Object": "{}"}.get(found.name)
    if start == "null":
        start = "null" if found == ANY else ""
    if start is None:
        start = ""
        sent = UNSET.get(found.name, "null")
        sentences.append(f"Set it: {sent} is sent for what is not set, and the server's default is not known here.")
    if member.readonly:
        sentences.append("Read-only: the server does not take it from a client.")
    if about and sentences:
        about += "."
    return Variable(member.name, found, start, " ".join([about, *sentences]).strip())


def _base(
    plan: Plan, every: Mapping[str, Variable], translator: Translator, done: Mapping[type, ValueClass]
) -> tuple[type | None, list[str]]:
    """The registered class that this one can extend, and a note for each that it cannot."""
    notes: list[str] = []
    for cls in plan.cls.__mro__[1:]:
        if cls not in done:
            continue
        inherited = done[cls].every
        wrong = [name for name, one in inherited.items() if not _same(one, every.get(name), translator)]
        if not wrong:
            return cls, notes
        differ = ", ".join(wrong)
        notes.append(f"It does not extend {simple(done[cls].name)}, since these members differ: {differ}.")
    return None, notes


def _same(inherited: Variable, own: Variable | None, translator: Translator) -> bool:
    """Does the variable of the base hold what the Python class says of its own?"""
    if own is None:
        return False
    kinds = {name: cls for cls, name in translator.names.items()}
    wide, narrow = kinds.get(inherited.type.name), kinds.get(own.type.name)
    if wide is not None and narrow is not None:
        return issubclass(narrow, wide)
    return own.type.name == inherited.type.name or inherited.type == ANY


def class_text(value: ValueClass, scope: Scope, target: str) -> str:
    """The class, without its package."""
    plan = value.plan
    # To a class of Royale's that is dynamic nothing undeclared can come among the sealed members: it reads no further.
    dynamic = plan.dynamic or plan.names is None and not plan.declared and target == "flex"
    doc = doc_lines(plan.cls, fields_of(plan.cls) is not None)
    parts = [
        comment([*doc, *([""] if doc and value.notes else []), *value.notes]),
        f"[Bindable]\n[RemoteClass(alias={string(plan.alias)})]\n",
        f"public {'dynamic ' if dynamic else ''}class {simple(value.name)}",
        f" extends {scope.name(value.base)}\n{{\n" if value.base else "\n{\n",
        "\n".join(_declaration(variable, scope) for variable in value.variables),
        "}\n",
    ]
    return "".join(parts)


def _declaration(variable: Variable, scope: Scope) -> str:
    parts = [comment([variable.about], "    ")]
    if variable.type.element:
        parts.append(f"    [ArrayElementType({string(variable.type.element)})]\n")
    made = f"new {variable.type.name}("
    start = variable.start
    if start.startswith(made):
        start = f"new {scope.name(variable.type.name)}({start.removeprefix(made)}"
    start = f" = {start}" if start else ""
    parts.append(f"    public var {variable.name}:{scope.name(variable.type.name)}{start};\n")
    return "".join(parts)


def enum_text(cls: type[enum.Enum], name: str, type_name: str) -> str | None:
    """A class with a constant for each member of an Enum; None if a value cannot be written."""
    values = {member: constant(one.value) for member, one in cls.__members__.items()}
    if None in values.values():
        return None
    lines = [
        comment([*(doc_lines(cls) or [f"The values of {cls.__qualname__}."])]),
        f"public final class {simple(name)}\n{{\n",
    ]
    taken = {simple(name)}
    for member, value in values.items():
        word = free(member, taken)
        taken.add(word)
        lines.append(f"    public static const {word}:{type_name} = {value};\n")
    return "".join([*lines, "}\n"])


def register_text(values: Collection[ValueClass], scope: Scope) -> str:
    """The class that makes the others known by their aliases."""
    lines = [
        f"        registerClassAlias({string(value.plan.alias)}, {scope.name(value.name)});\n"
        for value in sorted(values, key=lambda value: value.plan.alias)
    ]
    about = comment(
        [
            "Makes the classes known by their aliases, those too that no other code mentions: what is not compiled in",
            "or not known comes as a plain Object. Proxies do it by themselves.",
        ]
    )
    head = f"{about}public final class {simple(scope.own)}\n{{\n    public static function register():void\n    {{\n"
    return head + "".join(lines) + "    }\n}\n"
