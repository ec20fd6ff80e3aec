"""Checks of collections: whether their indexes are usable and complete."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.doctor.report import REPAIR, Check, fail, good, shorten_list, warn
from elt_llm_core.errors import CollectionMismatchError, EltLlmError, StoreError
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.models.factory import LateModels
from elt_llm_core.store import CollectionCard, Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.records import INDEXES
from elt_llm_core.store.index.child import run_child
from elt_llm_core.store.index.manifest import IndexFolder
from elt_llm_core.store.index.publish import is_due, is_outdated

INSPECTOR = "elt_llm_core.store.index.generation_check"


def check_indexes(config: RagConfig, store: Store, *, deep: bool) -> Iterator[Check]:
    """Run every check of every collection; with `deep`, each index is searched."""
    try:
        cards = store.collections()
    except EltLlmError:
        return  # already reported by the check of the database
    for card in cards:
        yield from _collection_checks(config, store, card, deep=deep)
    if cards:
        yield from _embedder(config, cards)
    strange = list_unknown_folders(store)
    if strange:
        detail = f"indexes without a collection: {shorten_list(strange)}"
        yield warn("index folders", detail, REPAIR)


def list_unknown_folders(store: Store) -> list[str]:
    """Return names below the index folder that belong to no collection."""
    known = {card.name for card in store.collections()}
    there = (store.data_dir / INDEXES).glob("*")
    return sorted(path.name for path in there if path.name not in known)


def _collection_checks(
    config: RagConfig, store: Store, card: CollectionCard, *, deep: bool
) -> Iterator[Check]:
    name = f"collection {card.name}"
    try:
        opened = store.open(card.name)
    except EltLlmError as error:
        yield fail(name, error.message, error.hint)
        return
    if opened.degradations:
        yield warn(name, opened.degradations[0].detail, REPAIR)
    else:
        yield _check_served(config, store, card)
        if deep and opened.generation:
            yield _check_index(store, card)
    if card.quarantined:
        yield _quarantine(store, card)


def _check_served(config: RagConfig, store: Store, card: CollectionCard) -> Check:
    """Check a collection's contents, and how much of it the index lacks."""
    name = f"collection {card.name}"
    counts = f"{card.documents} documents, {card.chunks} chunks"
    folder = IndexFolder(store.data_dir, card.name)
    manifest = folder.manifest()
    if manifest is None:
        return good(name, f"{counts}, too few to index")
    with closing(Database(store.data_dir)) as database:
        newer = database.changes(card.name, manifest.seq)
        late = is_due(database, folder, config.stores.delta_fraction)
    if is_outdated(folder, config.keywords):
        asked = f"{manifest.keywords!r}, the configuration asks for"
        other = f"{counts}, words indexed by {asked} {config.keywords.name!r}"
        return warn(name, other, REPAIR)
    if late:
        return warn(name, f"{counts}, the index lacks {newer} changes", REPAIR)
    ready = f"index ready: generation {manifest.generation}, {newer} changes newer"
    return good(name, f"{counts}, {ready}")


def _check_index(store: Store, card: CollectionCard) -> Check:
    name = f"index {card.name}"
    faults = inspect_in_process(store, card.name)
    if faults:
        return fail(name, shorten_list(faults), REPAIR)
    return good(name, "counts, reachability, keyword index and recall are correct")


def inspect_in_process(store: Store, name: str) -> list[str]:
    """Return what a process that opens the index reports, or how it died."""
    try:
        report = run_child(INSPECTOR, [str(store.data_dir.absolute()), name])
    except StoreError as error:
        return [f"it cannot be opened: {error.message}"]
    faults: list[str] = json.loads(report[-1])
    return faults


def _quarantine(store: Store, card: CollectionCard) -> Check:
    reasons = Counter(chunk.reason for chunk in store.quarantined_chunks(card.name))
    counted = [f"{count} x {reason}" for reason, count in reasons.most_common()]
    detail = (
        f"{card.quarantined} chunks are found by keywords only: {shorten_list(counted)}"
    )
    fix = f"elt-llm ingest PATH --collection {card.name}"
    return warn(f"quarantine {card.name}", detail, fix)


def _embedder(config: RagConfig, cards: list[CollectionCard]) -> Iterator[Check]:
    """Check that the configured embedder is the one of the collections."""
    try:
        embedder = as_counting(LateModels(config).embedder)
        name, digest = embedder.model_name, embedder.digest
    except EltLlmError as error:
        yield warn("embedder", f"not checked: {error.message}", error.hint)
        return
    others = [card for card in cards if card.embedder_digest != digest]
    for card in others:
        was = (card.embedder, card.embedder_digest)
        other = CollectionMismatchError.of_embedder(card.name, was, (name, digest))
        yield warn(f"embedder {card.name}", other.message, other.hint)
    if not others:
        yield good(
            "embedder", f"{name}, the embedder the collections were indexed with"
        )
