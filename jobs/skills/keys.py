"""Whose key workers encrypt under, and how a job gets sums opened."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.population import Population
from jobs.skills.holders import EmbeddedHolders, Holder, Opener, OpeningLog
from jobs.skills.key_files import read_public, read_share
from jobs.skills.mailbox import MailboxOpener
from jobs.skills.spec import KeysTable
from udfs.errors import ProtocolError
from udfs.streams import byte_stream
from udfs.threshold import KeyShare, ThresholdKey, deal


@dataclass(frozen=True)
class Keyring:
    """A key, and who opens what is encrypted under it.

    Attributes
    ----------
    key : ThresholdKey
    opener : Opener
    where : str
        Where holders are: "mailbox", "embedded" in the job, or "trial": embedded, with a key that the job dealt itself.
    """

    key: ThresholdKey
    opener: Opener
    where: str


def key_holders(table: KeysTable) -> str:
    """Return where a spec's key-holders are: "mailbox", "embedded" or "trial"."""
    if table.public is None:
        return "trial"
    return "embedded" if table.mailbox is None else "mailbox"


def read_keys(table: KeysTable) -> tuple[ThresholdKey, tuple[KeyShare, ...]] | None:
    """Return the key that a spec names, and its embedded holders' shares; None where the job deals its own.

    Raises
    ------
    ProtocolError
        Names the file that is no key, or belongs to another one, or says that there are too few.
    """
    if table.public is None:
        return None
    key = read_public(table.public)
    shares = tuple(map(read_share, table.shares or ()))
    for path, share in zip(table.shares or (), shares, strict=True):
        if share.key.key_id != key.key_id:
            raise ProtocolError(
                path, f"must be a share of the key in {table.public}", f"key {share.key.key_id[:12]}"
            )
    if table.mailbox is None:
        distinct = {share.holder for share in shares}
        if len(distinct) != len(shares):
            raise ProtocolError("keys.shares", "must be of different holders", "one holder twice")
        if len(shares) < key.threshold:
            raise ProtocolError(
                "keys.shares",
                f"must be of {key.threshold} holders or more",
                f"{len(shares)} of {key.threshold}",
                "name more share files",
            )
    return key, shares


def open_keyring(table: KeysTable, population: Population) -> Keyring:
    """Return the key of a job, with its holders.

    Keys that a job deals for itself are a function of its secret: a job that resumes has them again, and they are
    gone with it.

    Raises
    ------
    ProtocolError
    """
    found, where = read_keys(table), key_holders(table)
    if found is None:
        words = byte_stream(population.driver_key("keys"))
        key, shares = deal(table.holders or 1, table.threshold or 1, table.bits, words)
        holders = [Holder(share, OpeningLog.in_memory()) for share in shares]
        return Keyring(key, EmbeddedHolders(key, holders), where)
    key, shares = found
    if table.mailbox is not None:
        return Keyring(key, MailboxOpener(key, table.mailbox, table.wait_s, population.say), where)
    logs = [OpeningLog.beside(path) for path in table.shares or ()]
    holders = [Holder(share, log) for share, log in zip(shares, logs, strict=True)]
    return Keyring(key, EmbeddedHolders(key, holders), where)
