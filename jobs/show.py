"""What a terminal shows of results, plans and ledgers."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.ledger import Ledger

_WIDTH = 110


def _console() -> Console:
    console = Console(highlight=False, emoji=False)
    return console if console.is_terminal else Console(highlight=False, emoji=False, width=_WIDTH)


def show_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show a result: every attribute's shares with their intervals, the guarantee, the budget, where it is."""
    console, privacy, population = _console(), document["privacy"], document["population"]
    for name, attribute in document["result"]["attributes"].items():
        console.print(_attribute_table(name, attribute))
        if attribute["missing"]["note"]:
            console.print(f"{name}: {attribute['missing']['note']}.\n", markup=False)
    collected = document["spec"]["collected"] is not None
    console.print(
        f"{population['rows']:,} respondents of {population['name']}, taken as a simple random sample. "
        f"{'If their reports were made as the spec says, then whatever' if collected else 'Whatever'} one of them"
        f" answered, their reports are at most e^{_short(privacy['epsilon'])} times as likely as under any other"
        " answers.",
        markup=False,
    )
    limit = "no limit" if privacy["limit"] is None else f"a limit of {_short(privacy['limit'])}"
    spent = f"epsilon spent on them: {_short(privacy['spent_after'])}, with {limit}"
    console.print(
        f"{'Stored result: nothing was drawn or charged. ' if stored else ''}{spent}.", markup=False
    )
    console.print(f"{output}/result.json", markup=False, soft_wrap=True)


def _attribute_table(name: str, attribute: dict[str, Any]) -> Table:
    title = f"{name}  ({attribute['mechanism']}, epsilon {_short(attribute['epsilon'])})"
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("category")
    for heading in ("proportion", "std. error", "95 % interval"):
        table.add_column(heading, justify="right")
    table.add_column("")
    rows = zip(
        attribute["categories"],
        attribute["proportions"],
        attribute["standard_errors"],
        attribute["intervals"],
        strict=True,
    )
    for category, share, error, (low, high) in rows:
        interval = "" if low is None or high is None else f"{low:.4f} to {high:.4f}"
        table.add_row(Text(str(category)), _share(share), _share(error), interval, _bar(share))
    missing = attribute["missing"]
    if missing["share"] is not None:
        table.add_row(
            Text("no answer (of all)", style="dim"),
            _share(missing["share"]),
            _share(missing["standard_error"]),
        )
    return table


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _bar(share: float | None) -> Text:
    """Return a bar of up to 25 cells, in eighths."""
    eighths = round(200 * min(max(share or 0.0, 0.0), 1.0))
    return Text("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip(), style="cyan")


def _short(number: float | None) -> str:
    return "infinity" if number is None else f"{number:.10g}"


def show_plan(planned: dict[str, Any]) -> None:
    """Show a plan."""
    console = _console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("attribute", "mechanism"):
        table.add_column(heading)
    for heading in ("cells", "epsilon", "std. error at 1/k", "largest", "without privacy"):
        table.add_column(heading, justify="right")
    for name, one in planned["predicted"]["attributes"].items():
        errors = (one["standard_error"], one["largest_standard_error"], one["without_privacy"])
        epsilon = _short(planned["epsilon"]["attributes"][name])
        table.add_row(
            Text(name), one["mechanism"], str(one["cells"]), epsilon, *(_share(error) for error in errors)
        )
    console.print(table)
    for stage in planned["stages"]:
        console.print(
            f"{stage['name']}: {planned['rows']:,} rows in {stage['tasks']} task{'s' * (stage['tasks'] != 1)}",
            markup=False,
        )
    size = planned["bytes"]
    console.print(f"reads {size['read']:,} bytes, writes about {size['written']:,}", markup=False)
    total, charged = planned["epsilon"]["total"], planned["epsilon"]["charged"]
    console.print(f"epsilon {_short(total)} a respondent, {_short(charged)} of it charged", markup=False)


def show_ledger(ledger: Ledger) -> None:
    """Show every account with its charges."""
    console = _console()
    for balance in ledger.balances():
        limit = "no limit" if balance.limit is None else f"limit {balance.limit}"
        table = Table(
            title=Text(f"{balance.account}: {balance.spent} spent, {limit}"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for heading in ("when", "job", "question"):
            table.add_column(heading)
        table.add_column("epsilon", justify="right")
        table.add_column("status")
        for charge in ledger.charges(balance.account):
            table.add_row(
                charge.at, charge.job[:12], Text(charge.question), str(charge.epsilon), charge.status
            )
        console.print(table)
