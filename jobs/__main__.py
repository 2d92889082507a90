"""The command line: `canvass`, also `dask canvass`.

Thin: it reads words, hands over, and shows what comes back. Imports of the cluster stand inside the
commands, so that help and specs' errors come at once.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
import traceback
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import click

from udfs.errors import ClusterError, JobError, SpecError

if TYPE_CHECKING:
    from cluster.backend import Backend
    from jobs.spec import Spec


class _OneLineErrors(click.Group):
    """Ends every failure of a job in one line and its exit code, also below `dask`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command that was named."""
        try:
            return super().invoke(ctx)
        except JobError as error:
            click.echo(f"canvass: {error}", err=True)
            ctx.exit(error.exit_code)
        except OSError as error:
            where, what = error.filename or "system", error.strerror or type(error).__name__
            click.echo(f"canvass: {where}: {what}", err=True)
            ctx.exit(5)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # a library's own; what it says may quote data
            if os.environ.get("CANVASS_TRACEBACK"):
                raise
            where = traceback.extract_tb(error.__traceback__)[-1]
            click.echo(
                f"canvass: {os.path.basename(where.filename)}:{where.lineno}: {type(error).__name__};"
                " CANVASS_TRACEBACK=1 shows all of it",
                err=True,
            )
            ctx.exit(5)


@click.group(cls=_OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dask-canvass")
def canvass() -> None:
    """Ask a whole population something sensitive, without anyone having to trust the asker."""


@canvass.command()
@click.argument("spec_path", metavar="SPEC.toml")
@click.option("--out", metavar="DIR", help="Where results go, instead of output.path.")
@click.option("--set", "overrides", metavar="table.key=value", multiple=True, help="Set a key of the spec.")
@click.option("--scheduler", metavar="ADDRESS", help="A running Dask scheduler.")
@click.option("--scheduler-file", metavar="FILE", help="The file in which a scheduler wrote its address.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes of the embedded cluster.")
@click.option("--secret-file", metavar="FILE", help="A fixed 32-byte secret, for reproducible tests only.")
@click.option("--quiet", is_flag=True, help="Show no progress and no result.")
def run(
    spec_path: str,
    out: str | None,
    overrides: tuple[str, ...],
    scheduler: str | None,
    scheduler_file: str | None,
    workers: int | None,
    secret_file: str | None,
    quiet: bool,
) -> None:
    """Run the job of a spec, resume it, or show its stored result."""
    from jobs.catalogue import load
    from jobs.ledger import Ledger
    from jobs.lifecycle import run_job
    from jobs.show import show_result
    from jobs.spec import read_spec_file
    from jobs.state import state_home

    given = read_spec_file(spec_path, overrides)
    _put(given, "output", path=out)
    _put(given, "cluster", scheduler=scheduler, scheduler_file=scheduler_file, workers=workers)
    job, spec = load(given)
    backend = _backend(spec, secret_file, quiet)
    ledger = Ledger.at(spec.ledger.url, state_home())
    document, stored = run_job(job, spec, backend, ledger, state_home())
    if not quiet:
        show_result(document, spec.output.path, stored)


@canvass.command()
@click.argument("spec_path", metavar="SPEC.toml")
@click.option("--set", "overrides", metavar="table.key=value", multiple=True, help="Set a key of the spec.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(spec_path: str, overrides: tuple[str, ...], as_json: bool) -> None:
    """Say what a job would do and how good it would be; reads no row."""
    from jobs.catalogue import load
    from jobs.lifecycle import open_data
    from jobs.results import encode
    from jobs.show import show_plan
    from jobs.spec import read_spec_file

    job, spec = load(read_spec_file(spec_path, overrides))
    data, _ = open_data(spec, _backend(spec, None, quiet=True))
    job.check(spec, data)
    planned = job.plan(spec, data)
    if as_json:
        click.echo(encode(planned).decode(), nl=False)
    else:
        show_plan(spec.job, planned)


def _as_list(_: click.Context, __: click.Parameter, text: str | None) -> list[str] | None:
    """Return what commas separate; quotes protect those in names."""
    return (
        None if text is None else [one.strip() for one in next(csv.reader([text], skipinitialspace=True), [])]
    )


@canvass.command(name="import")
@click.argument("format_name", metavar="FORMAT")
@click.argument("file", metavar="FILE")
@click.option("--out", metavar="DIR", required=True, help="A folder that is not there, or empty.")
@click.option(
    "--blocks",
    metavar="N",
    type=click.IntRange(1, 100_000),
    help="Files; by default one for 2 million ballots.",
)
@click.option(
    "--overvotes",
    metavar="RULE",
    help="A rank of several: truncate the ballot there, skip the rank, void the ballot, or keep it as a tie."
    " By default truncate; keep for blt, where it is meant.",
)
def import_ballots(format_name: str, file: str, out: str, blocks: int | None, overvotes: str | None) -> None:
    """Bring ballots in to partitioned Parquet, one row each.

    FORMAT is preflib (soc, soi, toc, toi), blt, cvr (cast-vote records) or irv.
    """
    from cluster.partitioned import check_free, write_partitioned
    from jobs.election.formats import read_ballots

    check_free(out)
    ballots, told = read_ballots(format_name, file, overvotes)
    schema = ballots.schema(told)
    files = write_partitioned(out, schema, ballots.parts(blocks, schema))
    ending = f"{files} file{'s' * (files != 1)}"
    click.echo(
        f"{out}: {ballots.ballots:,} ballots ({ballots.tallies['blank']:,} blank) on"
        f" {len(ballots.candidates)} candidates, in {ending}"
    )


@canvass.command()
@click.argument("path", metavar="BALLOTS")
@click.option(
    "--rule",
    metavar="RULE",
    required=True,
    help="plurality, borda, veto, scoring, condorcet, maximin, runoff or stv.",
)
@click.option("--weights", metavar="W,W,...", callback=_as_list, help="scoring: points by place.")
@click.option(
    "--candidates", metavar="A,B,...", callback=_as_list, help="In the tie order; else as the footers say."
)
@click.option("--ranking", metavar="COLUMN", default="ranking", show_default=True, help="The list column.")
@click.option("--ranks", metavar="C,C,...", callback=_as_list, help="Instead, columns of one rank each.")
@click.option(
    "--invalid", metavar="RULE", help="Ballots with faults: truncate (the default), blank or refuse."
)
@click.option("--shared", metavar="RULE", help="A rank of several: overvote or tie; else as suits the rule.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def margin(path: str, ranking: str, ranks: list[str] | None, as_json: bool, **election: Any) -> None:
    """Find the exact winner and margin of victory of BALLOTS.

    Nothing is private here: it is for whoever may see the ballots.
    """
    from cluster.dataset import open_dataset
    from jobs.election.ballot_box import find_margin, gather, open_box
    from jobs.results import encode
    from jobs.show.count import show_count

    data = open_dataset(path)
    columns = {"ranks": ranks} if ranks else {"ranking": ranking}
    given = {key: value for key, value in election.items() if value is not None}
    spec = open_box(data, {"path": path, **columns}, given)
    document = find_margin(spec, gather(spec.question, data.read(list(spec.question.columns))))
    if as_json:
        click.echo(encode(document).decode(), nl=False)
    else:
        show_count(document)


@canvass.group()
def keys() -> None:
    """Deal keys whose shares open sums together, and open sums as one of their holders."""


@keys.command()
@click.option("--out", metavar="DIR", required=True, help="A folder; files that are there stay as they are.")
@click.option(
    "--holders", metavar="N", type=click.IntRange(1, 1000), required=True, help="How many hold a share."
)
@click.option(
    "--threshold", metavar="T", type=click.IntRange(min=1), required=True, help="How many can open a sum."
)
@click.option(
    "--bits",
    metavar="B",
    type=click.IntRange(512, 8192),
    default=2048,
    show_default=True,
    help="Of the modulus.",
)
def new(out: str, holders: int, threshold: int, bits: int) -> None:
    """Deal a new key: public.json, and a share for each holder.

    Whoever runs this sees the whole key. Hand each holder the one share, by a way that nobody else reads, and remove
    the shares here.
    """
    from jobs.skills.holders import quorum_warning
    from jobs.skills.key_files import write_keys
    from udfs.threshold import deal

    if threshold > holders:
        raise SpecError("--threshold", "must be at most --holders", f"{threshold} of {holders}")
    key, shares = deal(holders, threshold, bits, os.urandom)
    write_keys(out, key, shares)
    if warning := quorum_warning(key):
        click.echo(f"canvass: {warning}", err=True)
    shares_are = "share-1.json" if holders == 1 else f"share-1.json to share-{holders}.json"
    click.echo(
        f"{out}: public.json and {shares_are}; key {key.key_id[:12]}, {bits} bits, {threshold} of {holders}"
    )


@keys.command(name="open")
@click.option("--share", metavar="FILE", required=True, help="Your share.")
@click.option("--mailbox", metavar="DIR", required=True, help="The folder that jobs leave requests in.")
@click.option(
    "--at-least",
    metavar="N",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Open no sum of fewer contributions.",
)
@click.option(
    "--most-sessions",
    metavar="N",
    type=click.IntRange(min=1),
    help="Open sums of so many jobs, and of no other.",
)
@click.option(
    "--watch",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Go on answering for so long: a tree makes a request for each of its levels.",
)
def open_requests(share: str, mailbox: str, at_least: int, most_sessions: int | None, watch: float) -> None:
    """Answer the requests in a mailbox as the holder of a share.

    Each sum is checked and opened once: a second one of the same level is refused. The log of all that was opened lies
    beside the share.
    """
    from jobs.skills.mailbox import serve

    click.get_current_context().exit(serve(share, mailbox, at_least, watch, click.echo, most_sessions))


@canvass.group()
def ledger() -> None:
    """See what populations' privacy budgets were spent on, and limit them."""


@ledger.command()
@click.option("--url", metavar="URL", help="Another ledger than the one in the state folder.")
def show(url: str | None) -> None:
    """Show every account, its limit and its charges."""
    from jobs.ledger import Ledger
    from jobs.show import show_ledger
    from jobs.state import state_home

    show_ledger(Ledger.at(url, state_home()))


@ledger.command()
@click.argument("name")
@click.argument("epsilon")
@click.option("--url", metavar="URL", help="Another ledger than the one in the state folder.")
def limit(name: str, epsilon: str, url: str | None) -> None:
    """Limit what may be spent on the population NAME to EPSILON."""
    from jobs.ledger import Ledger, parse_limit
    from jobs.state import state_home

    accounts = Ledger.at(url, state_home())
    accounts.set_limit(name, parse_limit(epsilon))
    spent = next(balance.spent for balance in accounts.balances() if balance.account == name)
    click.echo(f"{name}: limit {epsilon}, {spent} spent")


@canvass.command()
def schema() -> None:
    """Print the JSON Schema of specs, for editors."""
    from jobs.catalogue import JOBS

    schemas = [
        job().spec_type.model_json_schema(ref_template=f"#/oneOf/{place}/$defs/{{model}}")
        for place, job in enumerate(JOBS.values())
    ]
    click.echo(json.dumps({"oneOf": schemas}, indent=1))


def _put(given: dict[str, Any], table: str, **values: object) -> None:
    """Set what the command line gave, over what the spec says."""
    chosen = {key: value for key, value in values.items() if value is not None}
    if not chosen:
        return
    into = given.setdefault(table, {})
    if not isinstance(into, dict):
        raise SpecError(table, "must be a table")
    into.update(chosen)


def _backend(spec: Spec, secret_path: str | None, quiet: bool) -> Backend:
    """Return the cluster's side, opened as the spec says once it is needed."""
    from cluster.backend import Backend
    from cluster.progress import progress_for
    from cluster.reduce import Engine
    from cluster.secret_file import read_secret

    table = spec.cluster

    def open_engine() -> AbstractContextManager[Engine]:
        from cluster.session import ClusterOptions, open_engine

        options = ClusterOptions(
            table.scheduler, table.scheduler_file, table.workers, table.threads, table.memory, table.timeout_s
        )
        return open_engine(options, progress_for(sys.stderr, quiet))

    try:
        secret = read_secret(secret_path) if secret_path else None
    except ClusterError as error:
        remedy = "give a file of 32 bytes that you alone may read"
        raise SpecError(f"--secret-file {error.where}", error.must, error.got, remedy) from None
    if secret is not None:
        click.echo(
            "canvass: a secret that is used again links what it draws; --secret-file is for tests", err=True
        )
    return Backend(open_engine, table.secrets_dir, secret)


def _stop(*_: object) -> None:
    """End on SIGTERM as on an interrupt, with its own exit code."""
    click.echo("canvass: stopped; a job that was under way resumes when it is run again", err=True)
    sys.exit(128 + signal.SIGTERM)


def main() -> None:
    """Run the command line; every failure is one line and an exit code."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = canvass.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("canvass: stopped; a job that was under way resumes when it is run again", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
