"""The group of commands, and what happens to their errors."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Sequence

import click

from .._version import __version__
from ..errors import AmfError, Fault
from ..log import printable
from . import as3, call, completion, from_json, inspect, serve, sol
from .options import Settings, debug_option

BAD_NEWS, NOT_UNDERSTOOD, OUT_OF_REACH = 1, 2, 3


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=False)
@click.version_option(__version__, prog_name="amfgate", message="%(prog)s %(version)s")
@debug_option
def amfgate() -> None:
    """Look into AMF, call services that speak it, serve them, write their ActionScript.

    \b
    amfgate inspect save.sol                      what is in it?
    amfgate inspect 0a0b010361040301              hex from a forum
    amfgate inspect session.har --target 'shop.*' the calls of a recording
    amfgate call http://localhost:8000/amf catalog.page 0 20
    amfgate sol edit save.sol --set coins=500
    amfgate as3 shop:gateway --output src         value objects and proxies for Flex

    Exit status: 0 all is well, 1 damaged input or a fault, 2 wrong usage, 3 something cannot be read or reached.
    """


for command in (
    inspect.inspect,
    from_json.from_json,
    call.call,
    serve.serve,
    as3.as3,
    sol.sol,
    completion.completion,
):
    amfgate.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run a command line.  Errors are one line on stderr, with `--debug` the traceback too."""
    settings, stdout = Settings(), sys.stdout
    doubts = logging.getLogger("amfgate.packet")  # what it would say of a packet, the tree says in its place
    level = doubts.level
    doubts.setLevel(logging.ERROR)
    try:
        status = amfgate.main(list(arguments), prog_name="amfgate", standalone_mode=False, obj=settings)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except SystemExit:
        if sys.stdout is stdout:
            raise
        return 0  # `amfgate inspect big.har | head`: click took the closed pipe away, and ended with 1
    except click.ClickException as error:
        if "\n" in error.format_message():  # the help, for a group without a command
            error.show()
            return error.exit_code
        return _say(_with_help(error), error.exit_code, settings)
    except (click.Abort, KeyboardInterrupt):
        return _say("stopped", 130, settings)
    except BrokenPipeError:  # the same, when the last lines are flushed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter complains when it flushes
        return 0
    except Fault as fault:
        return _say(f"fault: {fault}{_details(fault, settings.debug)}", BAD_NEWS, settings)
    except AmfError as error:
        return _say(str(error), BAD_NEWS, settings)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}", OUT_OF_REACH, settings)
    except ImportError as error:
        return _say(str(error), OUT_OF_REACH, settings)
    except Exception as error:
        return _say(f"{type(error).__name__}: {error}", BAD_NEWS, settings)
    finally:
        doubts.setLevel(level)


def _with_help(error: click.ClickException) -> str:
    """A mistake in the command line, and where to read on."""
    context = getattr(error, "ctx", None)
    return (
        error.format_message() if context is None else f"{error.format_message()} (see {context.command_path} --help)"
    )


def _details(fault: Fault, debug: bool) -> str:
    """What a fault says besides, if it is one line; a server's traceback is shown as ours is, with `--debug`."""
    text = fault.details.strip()
    if "\n" in text and debug:
        click.echo("\n".join(printable(line) for line in text.splitlines()), err=True)
    return f" ({text})" if text and "\n" not in text else ""


def _say(message: str, status: int, settings: Settings) -> int:
    if settings.debug:
        traceback.print_exc()
    click.echo(f"amfgate: {printable(message, 2000)}", err=True)
    return status
