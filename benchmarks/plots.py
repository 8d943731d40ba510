"""Two plots for the documentation: time by workload, as a multiple of msgspec.msgpack's."""

from __future__ import annotations

from pathlib import Path

Series = dict[str, dict[str, float]]
COLOURS = {
    "amfgate AMF3": "#1b6ca8",
    "orjson": "#e0a458",
    "pickle 5": "#b8b8b8",
    "Py3AMF compiled AMF3": "#c44e52",
}
TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw(path: Path, title: str, series: Series, caption: str) -> None:
    """One group of bars for each workload, one bar for each library in `COLOURS`, from 1 up or down.

    series: library -> workload -> time divided by msgspec.msgpack's.  ImportError without matplotlib.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "amfgate"  # the same figures give the same file
    from matplotlib import pyplot

    shown = [name for name in COLOURS if name in series]
    workloads = list(series[shown[0]])
    figure, axes = pyplot.subplots(figsize=(10, 4.4))
    width = 0.8 / len(shown)
    for n, name in enumerate(shown):
        places = [i + (n - (len(shown) - 1) / 2) * width for i, w in enumerate(workloads) if w in series[name]]
        heights = [series[name][w] for w in workloads if w in series[name]]
        axes.bar(places, [height - 1 for height in heights], width, bottom=1, label=name, color=COLOURS[name])
    axes.axhline(1, color="#444444", linewidth=1)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    ticks = [tick for tick in TICKS if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xticks(range(len(workloads)), workloads, rotation=30, ha="right")
    axes.set_ylabel("time / msgspec.msgpack's")
    axes.set_title(title, loc="left")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, ncols=len(shown), loc="upper center", bbox_to_anchor=(0.5, -0.22))
    figure.text(0.01, 0.005, caption, fontsize=7, color="#666666")
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
