"""Replies to a message whose meaning is uncertain: they ask back, with examples."""

from collections.abc import Sequence

from elt_llm_query.analysis.follow_up import Dependence, Pointer, put_referent
from elt_llm_query.analysis.phrase_replacement import FollowUpReading
from elt_llm_query.analysis.referents import NamedThing
from elt_llm_query.conversation.understood_message import Understood

_SHOWN = 2  # example questions; more would be a long list


def ask_back(
    message: str, dependence: Dependence, candidates: Sequence[NamedThing]
) -> Understood:
    """Return the reply to a message with uncertain meaning.

    Args:
        message: The message.
        dependence: The words that refer to something uncertain.
        candidates: What they may stand for; some are shown as examples.
    """
    if dependence.kind is Pointer.FRAGMENT:
        reply = f'It is not certain what "{dependence.words}" asks about here.'
        return Understood(message, "", f"{reply} Ask in full.", dependence.words)
    reply = f'The question does not say what "{dependence.words}" stands for; name it.'
    if dependence.kind is Pointer.BARE_NOUN:  # of nothing that was spoken of
        verb = "are" if dependence.plural else "is"
        examples = [f"What {verb} the {dependence.noun}?"]
    else:
        fitting = [c for c in candidates if c.plural == dependence.plural]
        whole = [c for c in fitting if c.plural or _may_stand_alone(c.text)]
        names = [] if dependence.personal else [c.text for c in whole[:_SHOWN]]
        examples = [put_referent(message, dependence, name) for name in names]
    if examples:
        reply += f" For example: {' Or: '.join(examples)}"
    return Understood(message, "", reply, dependence.words)


def _may_stand_alone(name: str) -> bool:
    """Return whether a singular name needs no article: "the loan", "Acme"."""
    return name.startswith("the ") or name != name.lower()


def ask_which(
    message: str, dependence: Dependence, readings: Sequence[FollowUpReading]
) -> Understood:
    """Return the reply to a message with several possible meanings.

    Args:
        message: The message.
        dependence: Its uncertain words.
        readings: The meanings; the first ones are shown.
    """
    shown = " Or: ".join(reading.question for reading in readings[:_SHOWN])
    reply = f'It is not certain what "{dependence.words}" asks about here. {shown}'
    return Understood(message, "", reply, dependence.words)


def as_fragment(message: str) -> Dependence:
    """Return the words of a message that is no whole question."""
    return Dependence(Pointer.FRAGMENT, message.strip().rstrip("?!. "))
