"""The loop: each property that its docstring promises."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any

import pytest

from amfgate.pipeline import Pipeline


class Thing:
    """The least that travels: `response` and `fail`."""

    def __init__(self) -> None:
        self.response: Any = None
        self.errors: list[Exception] = []
        self.log: list[str] = []

    def fail(self, error: Exception) -> None:
        self.errors.append(error)
        self.response = f"failed: {error}"


class Step:
    """Writes down what it is called for; raises or answers where it is told to."""

    def __init__(
        self, name: str, *, enter: BaseException | str | None = None, leave: BaseException | None = None
    ) -> None:
        self.name = name
        self.enter = enter
        self.leave = leave

    def on_request(self, x: Thing) -> None:
        x.log.append(f"+{self.name}")
        if isinstance(self.enter, BaseException):
            raise self.enter
        if self.enter is not None:
            x.response = self.enter

    def on_response(self, x: Thing) -> None:
        x.log.append(f"-{self.name}")
        if self.leave is not None:
            raise self.leave


def run(*steps: Any) -> Thing:
    x = Thing()
    Pipeline(steps).run(x)
    return x


def test_steps_run_forward_and_back_in_the_order_of_the_list() -> None:
    assert run(Step("a"), Step("b"), Step("c")).log == ["+a", "+b", "+c", "-c", "-b", "-a"]


def test_a_pipeline_without_steps_does_nothing() -> None:
    assert run().log == []


def test_an_answer_ends_the_way_forward_and_its_own_step_leaves_too() -> None:
    x = run(Step("a"), Step("b", enter="early"), Step("c"))
    assert x.log == ["+a", "+b", "-b", "-a"]
    assert x.response == "early"


def test_any_answer_that_is_not_none_counts() -> None:
    x = Thing()
    Pipeline([lambda x: setattr(x, "response", 0), Step("b")]).run(x)
    assert x.log == []


class Leaver:
    """A step that has the way back only."""

    def __init__(self, name: str) -> None:
        self.name = name

    def on_response(self, x: Thing) -> None:
        x.log.append(f"-{self.name}")


def test_a_step_with_the_way_back_only_is_entered_when_the_way_forward_passes_it() -> None:
    steps = [Leaver("a"), Step("b", enter="early"), Leaver("c")]
    assert run(*steps).log == ["+b", "-b", "-a"]
    assert run(Leaver("a"), Step("b"), Leaver("c")).log == ["+b", "-c", "-b", "-a"]


@pytest.mark.parametrize("place", range(4))
def test_an_error_on_the_way_forward_is_an_answer_and_whoever_entered_leaves(place: int) -> None:
    error = ValueError("no")
    steps = [Step(str(n), enter=error if n == place else None) for n in range(4)]
    x = run(*steps)
    entered = [str(n) for n in range(place + 1)]
    assert x.log == ["+" + n for n in entered] + ["-" + n for n in reversed(entered)]
    assert x.errors == [error]
    assert x.response == "failed: no"


@pytest.mark.parametrize("place", range(4))
def test_an_error_on_the_way_back_is_an_answer_and_the_others_still_leave(place: int) -> None:
    error = ValueError("no")
    x = run(*[Step(str(n), leave=error if n == place else None) for n in range(4)])
    assert x.log == ["+0", "+1", "+2", "+3", "-3", "-2", "-1", "-0"]
    assert x.errors == [error]


def test_every_step_may_fail_on_the_way_back() -> None:
    errors = [ValueError(str(n)) for n in range(3)]
    x = run(*[Step(str(n), leave=error) for n, error in enumerate(errors)])
    assert x.errors == [errors[2], errors[1], errors[0]]


@pytest.mark.parametrize("escape", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_base_exception_on_the_way_forward_runs_the_leaves_and_is_raised(escape: type[BaseException]) -> None:
    x = Thing()
    with pytest.raises(escape):
        Pipeline([Step("a"), Leaver("b"), Step("c", enter=escape()), Step("d")]).run(x)
    assert x.log == ["+a", "+c", "-c", "-b", "-a"]
    assert x.errors == []


def test_a_base_exception_on_the_way_back_runs_the_other_leaves_and_is_raised() -> None:
    x = Thing()
    with pytest.raises(KeyboardInterrupt):
        Pipeline([Step("a"), Step("b", leave=KeyboardInterrupt()), Step("c")]).run(x)
    assert x.log == ["+a", "+b", "+c", "-c", "-b", "-a"]


def test_an_error_while_a_base_exception_passes_is_data_as_ever() -> None:
    x = Thing()
    error = ValueError("late")
    with pytest.raises(SystemExit):
        Pipeline([Step("a"), Step("b", leave=error), Step("c", enter=SystemExit())]).run(x)
    assert x.log == ["+a", "+b", "+c", "-c", "-b", "-a"]
    assert x.errors == [error]


def test_a_function_is_a_step_with_the_way_in_only() -> None:
    def function(x: Thing) -> None:
        x.log.append("function")

    partial = functools.partial(lambda word, x: x.log.append(word), "partial")
    assert run(function, partial, lambda x: x.log.append("lambda")).log == ["function", "partial", "lambda"]


def test_a_step_without_hooks_is_refused_when_the_pipeline_is_built() -> None:
    class Nothing:
        pass

    with pytest.raises(TypeError, match=r"step 2, .*Nothing.* has neither on_request\(x\) nor on_response\(x\)"):
        Pipeline([Step("a"), Nothing()])


def test_a_class_in_place_of_an_instance_is_refused() -> None:
    with pytest.raises(TypeError, match=r"step 1 is the class Leaver; put an instance in the list: Leaver\(\)"):
        Pipeline([Leaver])


def test_a_generator_hook_is_refused() -> None:
    class Yields:
        def on_response(self, x: Thing) -> Any:
            yield x

    with pytest.raises(TypeError, match=r"on_response of step 1, .* is a generator: called, it would not run"):
        Pipeline([Yields()])


def test_an_async_hook_is_refused() -> None:
    class Async:
        async def on_request(self, x: Thing) -> None:
            raise AssertionError

    with pytest.raises(TypeError, match=r"on_request of step 1, .* is an async def"):
        Pipeline([Async()])


def test_a_hook_that_cannot_be_called_is_refused() -> None:
    class Wrong:
        on_request = 5

    with pytest.raises(TypeError, match="on_request of step 1, .* is 5, which cannot be called"):
        Pipeline([Wrong()])


def test_hooks_are_looked_up_once_when_the_pipeline_is_built() -> None:
    looked_up: list[str] = []

    class Counting:
        def __getattr__(self, name: str) -> Any:
            looked_up.append(name)
            return lambda x: None

    pipeline = Pipeline([Counting()])
    assert looked_up == ["on_request", "on_response"]
    pipeline.run(Thing())
    pipeline.run(Thing())
    assert looked_up == ["on_request", "on_response"]


def test_the_stack_is_as_deep_in_the_last_of_ten_thousand_steps_as_in_the_first() -> None:
    depths: dict[str, int] = {}

    class Measuring:
        def __init__(self, name: str) -> None:
            self.name = name

        def on_request(self, x: Thing) -> None:
            depths["+" + self.name] = len(inspect.stack(0))

        def on_response(self, x: Thing) -> None:
            depths["-" + self.name] = len(inspect.stack(0))

    class Passing:
        count = 0

        def on_request(self, x: Thing) -> None:
            self.count += 1

        def on_response(self, x: Thing) -> None:
            self.count += 1

    passing = Passing()
    x = Thing()
    Pipeline([Measuring("first"), *[passing] * 9_998, Measuring("last")]).run(x)
    assert passing.count == 19_996
    assert x.errors == []
    assert depths["+first"] == depths["+last"]
    assert depths["-first"] == depths["-last"]


def test_eight_threads_share_a_pipeline() -> None:
    pipeline = Pipeline([Step("a"), Leaver("b"), lambda x: x.log.append(x.name), Step("c", enter="done")])
    wrong: list[Any] = []
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        barrier.wait()
        for turn in range(300):
            x = Thing()
            x.name = f"{number}/{turn}"  # type: ignore[attr-defined]
            pipeline.run(x)
            if x.log != ["+a", f"{number}/{turn}", "+c", "-c", "-b", "-a"]:
                wrong.append(x.log)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_repr_is_the_order() -> None:
    def count(x: Thing) -> None: ...

    class Named:
        def on_request(self, x: Thing) -> None: ...

        def __repr__(self) -> str:
            return "Named(5)"

    assert repr(Pipeline([Step("a"), count, Named()])) == "Step, count, Named(5)"
