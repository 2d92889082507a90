"""What a terminal shows of surveys and their plans."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.guarantee import guarantee, not_covered
from jobs.show.terminal import bar, console_of_width, numbers_table, say_costs, say_files, say_spent, short


def show_survey_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show a result: every attribute's shares with their intervals, the guarantee, the budget, where it is."""
    console, privacy, population = console_of_width(), document["privacy"], document["population"]
    if "study" in document["result"]:
        return _show_study(console, document["result"]["study"], output)
    for name, attribute in document["result"]["attributes"].items():
        console.print(_attribute_table(name, attribute))
        if attribute["missing"]["note"]:
            console.print(f"{name}: {attribute['missing']['note']}.\n", markup=False)
    for table in _result_tables(document["result"]):
        console.print(table)
    console.print(
        f"{population['rows']:,} respondents of {population['name']},"
        f" {document['result']['sampling'].removeprefix('respondents are ')}. "
        f"{_guarantee(privacy, document['spec'])}",
        markup=False,
    )
    say_spent(console, privacy, "them", stored)
    say_files(console, output, "result.json", "report.html")


def _guarantee(privacy: dict[str, Any], spec: dict[str, Any]) -> str:
    bound = None if privacy["epsilon"] is None else f"e^{short(privacy['epsilon'])}"
    return f"{''.join(guarantee(privacy, bound))} {not_covered(privacy, spec)}".rstrip()


def _result_tables(result: dict[str, Any]) -> list[Table]:
    """Return the tables of statistics, cheaters and regressions, where there are any."""
    tables = []
    if result["statistics"]:
        table = numbers_table("statistic", "of", *("estimate", "std. error", "95 % interval", "p-value"))
        for one in result["statistics"]:
            if isinstance(one["estimate"], list) or one.get("table"):
                values = [f"see {one.get('table', 'result.json')}", "", "", ""]
            else:
                values = [
                    f"{_share(one['estimate'])}{' ' + one['unit'] if one['unit'] else ''}",
                    _share(one["standard_error"]),
                    _interval(one.get("interval")),
                    _p_value(one.get("p_value")),
                ]
            table.add_row(one["kind"], Text(", ".join(one["of"])), *values)
        tables.append(table)
    for one in result["cheating"]:
        table = numbers_table(one["attribute"], "estimate", "std. error", "95 % interval")
        for name, found in one["estimates"].items():
            values = [
                _share(found["estimate"]),
                _share(found["standard_error"]),
                _interval(found["interval"]),
            ]
            table.add_row(Text(name), *values)
        tables.append(table)
    for one in result["regressions"]:
        table = numbers_table(
            f"log-odds of {one['outcome']}", "estimate", "std. error", "95 % interval", "p-value"
        )
        for term in one["terms"]:
            values = [_share(term["estimate"]), _share(term["standard_error"]), _interval(term["interval"])]
            table.add_row(Text(str(term["term"])), *values, _p_value(term["p_value"]))
        tables.append(table)
    return tables


def _interval(limits: list[float | None] | None) -> str:
    low, high = limits or (None, None)
    return "" if low is None or high is None else f"{low:.4f} to {high:.4f}"


def _p_value(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _show_study(console: Console, study: dict[str, Any], output: str) -> None:
    """Show how far every quantity was off, at every point of the grid, and whether the theorems held."""
    mechanisms = list(dict.fromkeys(point["mechanism"] for point in study["points"]))
    errors = {(point["epsilon"], point["mechanism"]): point for point in study["points"]}
    for place, quantity in enumerate(study["quantities"]):
        if quantity["kind"] == "proportion":
            continue
        title = f"{quantity['kind']} of {', '.join(quantity['of'])}, truly {study['truth'][place]:.4f}"
        table = numbers_table("epsilon", *(f"{name}: mean, std. error" for name in mechanisms))
        table.title, table.title_justify = Text(title), "left"
        for epsilon in dict.fromkeys(point["epsilon"] for point in study["points"]):
            cells = [errors[epsilon, name] for name in mechanisms]
            values = [
                f"{_share(one['mean'][place])}, {_share(one['empirical_standard_error'][place])}"
                for one in cells
            ]
            table.add_row(short(epsilon), *values)
        console.print(table)
    held = sum(one["holds_on_average"] for one in study["theorems"])
    console.print(
        f"{study['replications']:,} replications at each of {len(study['points'])} points."
        f" Theorems 2 to 4 hold on average at {held} of {len(study['theorems'])} of these checks.",
        markup=False,
    )
    say_files(console, output, "report.html")


def _attribute_table(name: str, attribute: dict[str, Any]) -> Table:
    title = f"{name}  ({attribute['mechanism']}, epsilon {short(attribute['epsilon'])})"
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
        table.add_row(Text(str(category)), _share(share), _share(error), _interval([low, high]), bar(share))
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


def show_survey_plan(planned: dict[str, Any]) -> None:
    """Show a plan."""
    console = console_of_width()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("attribute", "mechanism"):
        table.add_column(heading)
    for heading in ("cells", "epsilon", "std. error at 1/k", "largest", "without privacy"):
        table.add_column(heading, justify="right")
    for name, one in planned["predicted"]["attributes"].items():
        errors = (one["standard_error"], one["largest_standard_error"], one["without_privacy"])
        epsilon = short(planned["epsilon"]["attributes"][name])
        table.add_row(
            Text(name), one["mechanism"], str(one["cells"]), epsilon, *(_share(error) for error in errors)
        )
    console.print(table)
    _show_guesses(console, planned["predicted"]["attributes"])
    if schemes := planned["predicted"].get("schemes"):
        costs = ", ".join(
            f"{scheme} {'not possible' if cost is None else format(cost, '.4g')}"
            for scheme, cost in schemes["summed_variance_times_n"].items()
        )
        console.print(
            f"were epsilon {short(schemes['epsilon'])} shared, summed variances times n would be: {costs}",
            markup=False,
        )
    say_costs(console, planned, "a respondent")


def _show_guesses(console: Console, attributes: dict[str, Any]) -> None:
    """Show how well one respondent's answer could be guessed from the report, by both of the paper's mechanisms."""
    drawn = ("drawn guess: randomized response", "laplace")
    table = numbers_table("one answer guessed from its report, right", "by chance", "best guess here", *drawn)
    for name, one in attributes.items():
        if guesses := one["right_guess"]:
            kinds = ("randomized-response", "laplace")
            chances = [guesses.get(kind, {}).get("probability") for kind in kinds]
            best = guesses.get("here", {}).get("best")
            table.add_row(Text(name), _share(1 / one["cells"]), _share(best), *map(_share, chances))
    if table.row_count:
        console.print(table)
