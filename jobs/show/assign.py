"""What a terminal shows of assignments: what protocols cost, what was fetched, how much is of use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from jobs.assign import words
from jobs.show.terminal import bar, console_of_width, numbers_table, say, say_costs, say_files
from jobs.skills.words import SAFE_BITS

_EMBEDDED = (
    "In this run the cluster stood in for workers' devices and for the platform: it shows what would be sent,"
    " and protects nobody from whoever runs the cluster."
)


def show_assign_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show what workers sent and received beside the other protocols, precision, throughput, and the files.

    Parameters
    ----------
    document : dict
        Of the result.
    output : str
        Where it was written.
    stored : bool
        Whether it had been there before, so that nobody fetched.
    """
    console, result = console_of_width(), document["result"]
    retrieval, packing = result["retrieval"], result["packing"]
    console.print(_costs(result["costs"], result["gets"]))
    for text in (words.undecoded_of(result), words.coverage_of(result)):
        if text:
            say(console, text)
    if stored:
        say(console, "Stored result: nobody fetched anything again.")
    say(
        console,
        f"{_counted(result['workers'], 'worker')}, {_counted(result['gets'], 'get')} each: sent"
        f" {words.size(result['bytes_up'])}, received {words.size(result['bytes_down'])}, for items of"
        f" {words.size(result['item_bytes'])}.",
    )
    precision = result["precision"]
    say(
        console,
        "Of use in the items that they got, by leaf:"
        f" {_percent(min(precision))} to {_percent(max(precision))}."
        f" No packing of the kind has a largest item below {words.size(packing['lower_bound'])}.",
    )
    if nowhere := result["tasks"]["nowhere"]:
        say(console, f"{_counted(nowhere, 'task')} for no leaf, and in no item.")
    if result["server_bytes_per_second"] is not None:
        say(
            console,
            f"The platform went over {words.size(result['server_bytes_per_second'])} of the library a second,"
            " for each query on one core.",
        )
    if retrieval["failure_log2"] is not None:
        say(console, _failure(retrieval["failure_log2"]))
    bits = document["spec"]["retrieval"]["bits"]
    trial = retrieval["protocol"] == "paillier" and bits < SAFE_BITS
    said = [
        words.guarantee_of(result),
        f"Keys of {bits:,} bits can be broken: they are for trials." if trial else "",
        _EMBEDDED if document["roles"] == "embedded" else "",
    ]
    say(console, " ".join(filter(None, said)))
    say_files(console, output, "result.json", "report.html")


def show_assign_plan(planned: dict[str, Any]) -> None:
    """Show a plan: what each protocol would cost, how large items are, and what it takes."""
    console, predicted = console_of_width(), planned["predicted"]
    console.print(_costs(predicted["costs"], predicted["gets"]))
    say(
        console,
        f"{_counted(predicted['leaves'], 'item')} of {words.size(predicted['item_bytes'])}, of which workers"
        f" could use {_percent(predicted['precision'])} on average; no packing of the kind has a largest item"
        f" below {words.size(predicted['packing']['lower_bound'])}.",
    )
    seconds = predicted["server_seconds"]
    takes = f"takes about {seconds:,.3g} s of one core" if seconds else "computes nothing"
    say(
        console,
        f"Each of {_counted(predicted['workers'], 'worker')} sends {words.size(predicted['bytes_up'])} and"
        f" receives {words.size(predicted['bytes_down'])}. The platform {takes}.",
    )
    if predicted["failure_log2"] is not None:
        say(console, _failure(predicted["failure_log2"]))
    say_costs(console, planned, "a worker")


def _failure(exponent: float) -> str:
    """Return how likely it is that anything is decoded wrongly, the exponent rounded up: it is a bound."""
    return f"Decoding fails anywhere with a probability below 2^{math.ceil(exponent)}."


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _costs(costs: Sequence[dict[str, Any]], gets: int) -> Table:
    """Return a row for each protocol, with marks for the one that is taken and those that take too long."""
    table = numbers_table("protocol", "once", "sent", "received", "a worker, in all", "", "platform, s a get")
    table.columns[5].justify = "left"
    most = max(one["bytes_per_worker"] for one in costs) or 1
    for one in costs:
        style = "bold" if one["chosen"] else ""
        sizes = (
            one["hint_bytes"],
            gets * one["upload_bytes"],
            gets * one["download_bytes"],
            one["bytes_per_worker"],
        )
        shown = one["protocol"] + (", taken" if one["chosen"] else "")
        table.add_row(
            Text(shown, style),
            *(Text(words.size(size), style) for size in sizes),
            bar(0.6 * one["bytes_per_worker"] / most),
            Text(f"{one['server_seconds']:.2g}{'' if one['affordable'] else ', too long'}", style),
        )
    return table
