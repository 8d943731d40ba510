"""The last filter: each call of the packet through the actions, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

from ..actions import authorize, default_actions
from ..pipeline import Call, Exchange, Pipeline, step_name
from .describe import answer_description


class Dispatch:
    """Puts each call that has no answer yet through `actions`, by default `find, authorize, bind, invoke, adapt`.

    One call's fault is that call's; the next one is served.  Calls of one packet are served in their order, in this
    thread.

    The header DescribeService is answered here too; see `amfgate.filters.describe`.  The action named `authorize` says
    which methods the caller is told of.
    """

    def __init__(self, actions: Iterable[Any] | None = None) -> None:
        self.pipeline = Pipeline(default_actions() if actions is None else actions)
        functions = [step for step in self.pipeline.steps if callable(step) and step_name(step) == "authorize"]
        self._authorize = functions[0] if functions else authorize

    def on_request(self, exchange: Exchange) -> None:
        run = self.pipeline.run
        if exchange.put_off is not None:
            run = partial(_in_turn, exchange.put_off, run)
        if exchange.logged:
            answer_description(exchange, self._authorize)
            for call in exchange.calls:
                if call.response is None:
                    started = perf_counter()
                    run(call)
                    call.seconds = perf_counter() - started
        else:
            for call in exchange.calls:
                if call.response is None:
                    run(call)
        exchange.answer()

    def __repr__(self) -> str:
        return f"Dispatch({self.pipeline!r})"


def _in_turn(put_off: Mapping[Call, Callable[[Call], None]], run: Callable[[Call], None], call: Call) -> None:
    """Do what was put off until the calls in front of this one were answered; then serve it, unless that was all."""
    act = put_off.get(call)
    if act is not None:
        try:
            act(call)
        except Exception as error:
            call.fail(error)
    if call.response is None:
        run(call)
