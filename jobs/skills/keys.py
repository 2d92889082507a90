"""Whose key workers encrypt under, and how a job gets sums opened."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.population import Population
from jobs.skills.holders import EmbeddedHolders, Holder, Opener, OpeningLog
from jobs.skills.key_files import read_share
from jobs.skills.mailbox import MailboxOpener
from jobs.skills.mailbox_files import check_mailbox
from jobs.skills.requests import numbered
from jobs.skills.spec import KeysTable
from udfs.errors import ProtocolError
from udfs.streams import byte_stream
from udfs.threshold import ThresholdKey, deal


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


def check_keys(table: KeysTable, key: ThresholdKey) -> None:
    """Refuse shares, logs and a mailbox with which nothing could be opened; no line is added to a log.

    Logs and the mailbox are made where there are none.

    Raises
    ------
    SpecError
        Names the file that is not there, or the mailbox that cannot be written to.
    ProtocolError
        Names the share or the log that is damaged, or says that there are too few.
    """
    if table.mailbox is not None:
        check_mailbox(table.mailbox)
    for holder in embedded_holders(table, key):
        holder.log.check()


def embedded_holders(table: KeysTable, key: ThresholdKey) -> tuple[Holder, ...]:
    """Return the embedded holders of a key, by their share files; none where holders are elsewhere.

    Raises
    ------
    SpecError
        Names the file that is not there.
    ProtocolError
        Names the file that is no share, or of another key, or says that there are too few.
    """
    paths = table.shares or ()
    shares = tuple(map(read_share, paths))
    for path, share in zip(paths, shares, strict=True):
        if share.key.key_id != key.key_id:
            raise ProtocolError(
                path,
                f"must be a share of the key in {table.public}, {key.key_id[:12]}",
                f"one of key {share.key.key_id[:12]}",
            )
    if table.mailbox is None:
        if len({share.holder for share in shares}) != len(shares):
            raise ProtocolError("keys.shares", "must be of different holders", "one holder twice")
        if len(shares) < key.threshold:
            raise ProtocolError(
                "keys.shares",
                f"must be of {numbered(key.threshold, 'holder')} or more",
                f"{len(shares)} of {key.threshold}",
                "name more share files",
            )
    return tuple(
        Holder(share, OpeningLog.beside(path, share)) for path, share in zip(paths, shares, strict=True)
    )


def open_keyring(table: KeysTable, key: ThresholdKey | None, population: Population) -> Keyring:
    """Return the key of a job, with its holders.

    The key is the one that the job's id was made of: a file that has changed since does not change it.

    Keys that a job deals for itself are a function of its secret: a job that resumes has them again, and they are
    gone with it.

    Raises
    ------
    SpecError
    ProtocolError
    """
    where = table.where
    if key is None:
        words = byte_stream(population.driver_key("keys"))
        dealt, shares = deal(table.holders or 1, table.threshold or 1, table.modulus_bits, words)
        holders = [Holder(share, OpeningLog.in_memory()) for share in shares]
        return Keyring(dealt, EmbeddedHolders(dealt, holders), where)
    if table.mailbox is not None:
        return Keyring(key, MailboxOpener(key, table.mailbox, table.wait_s, population.say), where)
    return Keyring(key, EmbeddedHolders(key, embedded_holders(table, key)), where)
