"""The meaning of a message, as a question that can be understood alone."""

from dataclasses import dataclass

from elt_llm_core.results import Degradation


@dataclass(frozen=True)
class Understood:
    """The meaning of a message.

    Attributes:
        question: The message as a question that can be understood alone.
        subject: The replacement for words that refer back; the answer must be about it.
            Empty if the message was complete.
        in_quote: Whether each quote, its heading or its title must name the subject;
            otherwise its passage suffices.
        kept: The subject that the question before and this one share; each passage must
            be about it.
        replaced: The phrase of the question before in the place of which it is.
        continued: Whether it asks something else of the clause of the question before.
        spoken: The question before in the same message, if this one is of the same act
            without its words: a quote must have one of them.
        ordered: Whether it asks what is before or after the act of `spoken`.
        noun: A noun that may belong to what the question before names: "the key".
        fuller: The question with what the noun then belongs to.
        unclear: The question that the reply asks back; empty if the message is clear.
        words: The unclear words.
        degradations: Failures on the way.
    """

    question: str
    subject: str = ""
    unclear: str = ""
    words: str = ""
    in_quote: bool = False
    kept: tuple[str, ...] = ()
    replaced: str = ""
    continued: bool = False
    spoken: str = ""
    ordered: bool = False
    noun: str = ""
    fuller: str = ""
    degradations: tuple[Degradation, ...] = ()

    @property
    def is_resolved(self) -> bool:
        """Whether the conversation completed the message."""
        return bool(self.subject) or self.continued
