"""What a terminal shows of assignments: what each protocol costs, what was fetched, and how much of it is of use."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from jobs.assign import words
from jobs.show.terminal import bar, console_of_width, numbers_table, say, say_costs, say_files


def show_assign_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show what workers sent and received, beside the other protocols; precision, throughput, and where it is.

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
    console.print(_costs(result["costs"], result["gets"]))
    if stored:
        say(console, "Stored result: nobody fetched anything again.")
    say(
        console,
        f"{result['workers']:,} workers, {_gets(result['gets'])} each: sent {words.size(result['bytes_up'])},"
        f" received {words.size(result['bytes_down'])}, for items of {words.size(result['item_bytes'])}.",
    )
    precision = result["precision"]
    say(
        console,
        f"Of use in what they got, by leaf: {100 * min(precision):.3g} to {100 * max(precision):.3g} %.",
    )
    if result["server_bytes_per_second"] is not None:
        say(
            console,
            f"The platform went over {words.size(result['server_bytes_per_second'])} of the library a second,"
            " for each query on one core.",
        )
    for text in (words.undecoded_of(result), words.coverage_of(result)):
        if text:
            say(console, text)
    say(console, words.guarantee_of(result))
    written = ("reports",) if document["spec"].get("output", {}).get("assignments") else ()
    say_files(console, output, "result.json", "report.html", *written)


def show_assign_plan(planned: dict[str, Any]) -> None:
    """Show a plan: what each protocol would cost, how large items are, and what it takes."""
    console, predicted = console_of_width(), planned["predicted"]
    console.print(_costs(predicted["costs"], predicted["gets"]))
    say(
        console,
        f"{predicted['leaves']:,} items of {words.size(predicted['item_bytes'])}, of which workers could use"
        f" {100 * predicted['precision']:.3g} % on average; no packing of the kind has a largest item below"
        f" {words.size(predicted['packing']['lower_bound'])}.",
    )
    say(
        console,
        f"Each of {predicted['workers']:,} workers sends {words.size(predicted['bytes_up'])} and receives"
        f" {words.size(predicted['bytes_down'])}. The platform takes about {predicted['server_seconds']:.3g} s of one core.",
    )
    if predicted["failure_log2"] is not None:
        say(console, f"Decoding fails anywhere with a probability below 2^{predicted['failure_log2']:.0f}.")
    say_costs(console, planned, "a worker")


def _gets(number: int) -> str:
    return f"{number:,} get{'s' * (number != 1)}"


def _costs(costs: list[dict[str, Any]], gets: int) -> Table:
    """Return a row for each protocol, the one that is taken marked."""
    table = numbers_table("protocol", "hint", "sent", "received", "a worker, in all", "", "platform, s a get")
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
            f"{one['server_seconds']:.2g}",
        )
    return table
