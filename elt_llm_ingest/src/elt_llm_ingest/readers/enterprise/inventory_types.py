"""The types of fact sheets by what headings and sheets call them."""

import re

# Types by their names in English and German, in letters only.
_WORDS = {
    "Application": ("application", "applikation", "anwendung"),
    "BusinessCapability": ("businesscapability", "capability", "geschäftsfähigkeit"),
    "DataObject": ("dataobject", "dataentity", "datenobjekt"),
    "Interface": ("interface", "schnittstelle"),
    "ITComponent": ("itcomponent", "itkomponente"),
    "Initiative": ("initiative",),
    "Objective": ("objective",),
    "Organization": ("organisation", "organization", "organisationseinheit"),
    "Platform": ("platform", "plattform"),
    "Process": ("process", "businessprocess", "prozess", "geschäftsprozess"),
    "Project": ("project", "projekt"),
    "Provider": ("provider", "anbieter"),
}
TYPE_OF = {word: kind for kind, words in _WORDS.items() for word in words}
# What the name of a sheet may say besides the type.
_LIST_WORDS = frozenset(
    {"catalog", "catalogue", "inventory", "landscape", "list", "of", "overview"}
) | {"portfolio", "register", "the", "der", "die", "inventar", "liste", "übersicht"}
_ENDINGS = (("ies", "y"), ("en", ""), ("es", ""), ("e", ""), ("s", ""), ("n", ""))


def type_named(text: str) -> str:
    """Return the type that a heading or the name of a sheet states, or "".

    Args:
        text: Such as "Data objects" or "List of applications".
    """
    words = re.findall(r"[^\W\d_]+", text.casefold())
    for kept in (words, [word for word in words if word not in _LIST_WORDS]):
        plain = "".join(kept)
        forms = [plain, *(_without(plain, *ending) for ending in _ENDINGS)]
        if kind := next((TYPE_OF[form] for form in forms if form in TYPE_OF), ""):
            return kind
    return ""


def _without(word: str, ending: str, instead: str) -> str:
    return word.removesuffix(ending) + instead if word.endswith(ending) else ""
