"""Domains of elements that are in no folder: by groupings, else by their layer.

Exchange files may come without folders ("organizations"). A grouping states what
belongs together; without one the layer of a type is what the standard says of it, and
what modelling tools call the folder of such elements.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from elt_llm_core.enterprise.model import ElementRole
from elt_llm_ingest.readers.archimate.entries import FileEntries, ModelEntry

GROUPING = "Grouping"
_PARTS = frozenset({"Aggregation", "Composition"})
_LAYERS: Mapping[str, str] = {
    "Strategy": "Capability CourseOfAction Resource ValueStream",
    "Business": "BusinessActor BusinessCollaboration BusinessEvent BusinessFunction "
    "BusinessInteraction BusinessInterface BusinessObject BusinessProcess "
    "BusinessRole BusinessService Contract Product Representation",
    "Application": "ApplicationCollaboration ApplicationComponent ApplicationEvent "
    "ApplicationFunction ApplicationInteraction ApplicationInterface "
    "ApplicationProcess ApplicationService DataObject",
    "Technology & Physical": "Artifact CommunicationNetwork Device DistributionNetwork "
    "Equipment Facility InfrastructureFunction InfrastructureInterface "
    "InfrastructureService Material Network Node Path SystemSoftware "
    "TechnologyCollaboration TechnologyEvent TechnologyFunction "
    "TechnologyInteraction TechnologyInterface TechnologyProcess TechnologyService",
    "Motivation": "Assessment Constraint Driver Goal Meaning Outcome Principle "
    "Requirement Stakeholder Value",
    "Implementation & Migration": "Deliverable Gap ImplementationEvent Plateau "
    "WorkPackage",
}
_LAYER_OF = {one: layer for layer, types in _LAYERS.items() for one in types.split()}


class UnfiledPlaces:
    """The domain and the subtype of elements without a folder.

    Args:
        entries: The entries of a file.
    """

    def __init__(self, entries: FileEntries) -> None:
        known = {entry.key: entry for entry in entries.elements}
        self._groupings = {k: e for k, e in known.items() if e.type == GROUPING}
        self._around = self._groupings_around(entries.relations)
        self._placing = {one.key for one in self._around.values()}
        # Beside folders an element outside them is left without a domain: a layer
        # would be a second way to divide one model.
        self._has_folders = any(entry.folder for entry in entries.elements)

    def _groupings_around(
        self, relations: Iterable[ModelEntry]
    ) -> dict[str, ModelEntry]:
        """Return the grouping that each element is a part of, if it is only one."""
        around: dict[str, set[str]] = defaultdict(set)
        for relation in relations:
            if relation.type in _PARTS and relation.source in self._groupings:
                around[relation.target].add(relation.source)
        return {
            part: self._groupings[keys.pop()]
            for part, keys in around.items()
            if len(keys) == 1
        }

    def role(self, entry: ModelEntry) -> ElementRole:
        """Return what an element is for: a grouping that places its parts is a group.

        Args:
            entry: An element that is in no folder.
        """
        if entry.key not in self._placing or not entry.name:
            return "entity"
        return "subtype" if entry.key in self._around else "domain"

    def place(self, entry: ModelEntry) -> tuple[str, str]:
        """Return domain and subtype of an element, each empty if nothing states it.

        Args:
            entry: An element that is in no folder.
        """
        chain: dict[str, str] = {}
        inner = self._around.get(entry.key)
        while inner is not None and inner.key not in chain:
            chain[inner.key] = inner.name
            inner = self._around.get(inner.key)
        names = [name for name in reversed(chain.values()) if name]
        if not names and self.role(entry) == "domain":
            names = [entry.name]
        if not names and not self._has_folders:
            names = [_LAYER_OF.get(entry.type, "Other")]
        return (names[0] if names else "", names[1] if len(names) > 1 else "")
