"""Names, strings and comments of ActionScript 3: what may be one, and how a text is made into one.

Aliases, members, parameters and docstrings are a Python programmer's, and some come out of a database.  Nothing of them
gets into a program unless it passed here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

# ActionScript 3.0 Language Specification, "Lexical keywords".  The contextual ones (get, set, each, ...) are names.
KEYWORDS: Final = frozenset(
    "as break case catch class const continue default delete do else extends false finally for function if implements "
    "import in instanceof interface internal is native new null package private protected public return super switch "
    "this throw to true try typeof use var void while with".split()
)
# The types that generated code writes without an import; a member of such a name would stand before the type.
TOP_LEVEL: Final = frozenset("Array Boolean Class Date Function Number Object String Vector XML int uint".split())
# What objects have already, those with [Bindable] too: they dispatch events.
INHERITED: Final = frozenset(
    "constructor prototype hasOwnProperty isPrototypeOf propertyIsEnumerable setPropertyIsEnumerable toLocaleString "
    "toString valueOf addEventListener dispatchEvent hasEventListener removeEventListener willTrigger".split()
)


def is_name(text: str) -> bool:
    """Can a class, a package's word, a variable or a method be called so?"""
    return text.replace("$", "_").isidentifier() and text not in KEYWORDS


def is_package(text: str) -> bool:
    """Is this the name of a package, `com.example`?"""
    return all(map(is_name, text.split(".")))


def is_qualified(text: str) -> bool:
    """Is this the name of a class with its package, `com.example.Product`, or without one?"""
    return is_package(text) and simple(text) not in TOP_LEVEL


def is_member(text: str) -> bool:
    """Can a member of a value object be called so?"""
    return is_name(text) and text not in TOP_LEVEL and text not in INHERITED


def free(text: str, taken: Collection[str]) -> str:
    """`text` as a name, with underscores behind it if it is no name or taken: where the name is not on the wire."""
    name = re.sub(r"[^\w$]", "_", text)
    if not name.replace("$", "_").isidentifier():
        name = f"_{name}" if f"_{name}".isidentifier() else "_"
    while not is_member(name) or name in taken:
        name += "_"
    return name


def simple(qualified: str) -> str:
    """`com.example.Product` -> `Product`."""
    return qualified.rpartition(".")[2]


def package_of(qualified: str) -> str:
    """`com.example.Product` -> `com.example`; "" for the top-level package."""
    return qualified.rpartition(".")[0]


def string(text: str) -> str:
    """A string literal, in ASCII."""
    parts = []
    for character in text:
        if character in '"\\':
            parts.append(f"\\{character}")
        elif " " <= character <= "~":
            parts.append(character)
        else:
            units = character.encode("utf-16-be", "surrogatepass")
            parts.extend(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
    return f'"{"".join(parts)}"'


def comment(lines: Iterable[str], indent: str = "") -> str:
    """A doc comment with these lines, "" for none.

    ASDoc reads what is in it as XHTML.  With `*/` a text would end the comment, and what follows be code.
    """
    found = [_clean(part) for line in lines for part in line.split("\n")]
    if not any(found):
        return ""
    if len(found) == 1:
        return f"{indent}/** {found[0]} */\n"
    body = "".join(f"{indent} * {line}".rstrip() + "\n" for line in found)
    return f"{indent}/**\n{body}{indent} */\n"


def _clean(line: str) -> str:
    text = "".join(character if character.isprintable() else " " for character in line).rstrip()
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("*/", "*&#47;")
