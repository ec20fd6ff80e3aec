"""A field is filled only by a sentence that says it of the entity."""

import pytest

from elt_llm_consumer.context_fields import MentionSentence, fields_of

D, G, B = "domain_context", "governance_rules", "business_rules"
L, C = "lifecycle_states", "data_classification"
R, A = "regulatory_context", "associated_agreements"


def fields(text):
    """The fields for what stands between the brackets."""
    before, rest = text.split("[")
    mention, after = rest.split("]")
    return list(fields_of(MentionSentence(before, mention, after)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Rules: the entity is bound, or something is done to it.
        ("The [Loan] must be recorded by the clerk.", [G]),
        ("A loan officer must record the [Loan] within 3 days.", [G, B]),
        ("Before a sale, every [Vendor] shall sign the form.", [G]),
        ("On a sale day the [Vendor] must report to the office.", [G]),
        (
            "A confirmed member shall be eligible for up to 7 days of [study leave].",
            [G, B],
        ),
        ("The member is granted [study leave] of at most 7 days.", [B]),
        ("The clerk may spend up to 100 crowns in a [Season] without consent.", []),
        ("The clerk must initial the [List] and must report within 13 hours.", [G]),
        ("If a [Vendor] is ill, the clerk must find another.", []),
        ("A notice of the [Council] must be posted.", []),
        ("The Chief [Vendor] must sign the form.", []),
        ("The chief [Vendor] must sign the form.", [G]),
        ("No [Kite] of this class may be launched in a gust.", [G]),
        ("The [Seat] may be moved to a town only with consent.", [G]),
        ("A [Regatta] may be moved to another date only once.", [G, B]),
        ("The [Allowance] will be pro-rated for part of a year.", [B]),
        ("A [Heat] of more than 50 minutes ends.", [B]),
        ("The [Bonus] is given for a year (qualifying period).", [D]),
        ("A member qualifies for the [Bonus] after a year.", []),
        ("If he cannot reach his [Officer], he should tell a colleague.", []),
        ("A [Vendor] should keep a copy.", [G]),
        ("The [Judge] may disqualify a result.", [D]),
        ("A [Result] may be disqualified by the judge.", [B]),
        ("The [Clerk] must:", []),
        ("The [Clerk] must not:", []),
        ("The [Clerk] must do two things: count and weigh.", [G]),
        ("The [Clerk] is responsible for the keys.", [G]),
        ("[Redress] is a right against a rower who is responsible for it.", [D]),
        ("[House Seats] are released to public sale at noon.", [D]),
        ("The [Minutes] are released to the public after a year.", [C]),
        # Descriptions.
        ("Starting the [Heat]:", []),
        ("[Clerks] of all offices are advised to ensure that;", []),
        ("[Records] are required for many purposes.", [D]),
        ("[Records] become important in court.", [D]),
        ("A [Novice] becomes a rider after eight heats.", [L]),
        ("A protest names the [Heat] and the mark.", []),
        ("The chair or the [Clerk] opens the hall.", [D]),
        ("All the [Stalls] face the water.", [D]),
        ("At the discretion of the [Judge], a rider is heard.", []),
        ("This finishes the [Heat].", []),
        ("The [Newsletter] appears ten times a year.", [D]),
        ("A hearing before the [Panel] is held in private.", []),
        ("[Loan] means money that must be repaid.", []),
        ("[Loan] - money that must be repaid.", []),
        ("“[Loan]” means money that must be repaid.", []),
        # States.
        ("A [Permit] expires after 14 months.", [L]),
        ("A [Permit] is requested, sent out, approved and filed.", [L]),
        ("A [Permit] is drafted, checked and finally approved.", [L]),
        ("The [Permit] of a vendor may be revoked.", [D]),
        ("The office may suspend a [Permit].", [L]),
        ("The fee is due on the expiry of the [Permit].", [L]),
        ("The post may be ended before the expiry of the [Term].", []),
        ("A [Vendor] may cancel an order at any time.", [D]),
        ("The [Portal] is closed for maintenance on Mondays.", [D]),
        ("Results become final before the [Panel] meets.", []),
        # Data.
        ("The [Medical File] is confidential.", [C]),
        ("A [Medical File] must be kept for 12 years.", [G, C]),
        ("The office may move only with the consent of the [Council].", []),
        ("[Staff] must be aware that files are confidential.", [G]),
        ("The long-term [Key] may be a secret key of both.", [D]),
        # Laws and agreements.
        ("The [Office] is registered under the Companies Act 1990.", [R]),
        ("The examination for the licence of the [Marshal] has two parts.", []),
        ("A [Tenant] signs the tenancy agreement.", [A]),
        ("The company makes a contract with the [Tenant].", [A]),
        ("A [Tenant] may keep a pet with the agreement of the owner.", [D]),
        # A course of many steps, and what was not.
        (
            "A [Mould] is drawn, dried, tested and, after a month, stored or broken.",
            [L],
        ),
        ("[Casts] are poured, cooled, filed or sanded, and dispatched.", [L]),
        ("[Casts] are poured, cooled and filed.", [D]),
        ("A crack that could have become a [Fracture] but did not is a flaw.", []),
        ("What has dried may become a [Cast].", [L]),
        ("The [Kiln] is owned by the master of the shop.", [G]),
        # Data about it.
        ("The records of [Apprentices] are classified as confidential.", [C]),
        ("The kilns of [Apprentices] are confidential.", []),
        ("[Apprentices].", []),
        # No sentence, and no noun of its own.
        ("Records 17.2 Personal data 17.3 [Notice Board] and portal 17.4 Radio", []),
        ("The [Vendor]'s permit must be shown.", []),
        ("The [vendor] identifier must be shown.", []),
        ("The [vendors] offer food.", [D]),
        ("A [vendor] found without a permit must leave.", [G]),
        ("The [Young Vendor] Officer must write down what was said.", []),
    ],
)
def test_a_sentence_fills_the_fields_that_it_says(text, expected):
    assert fields(text) == expected


@pytest.mark.parametrize(
    ("text", "hangs"),
    [
        ("Every [consignment] containing them must be accompanied by a form.", True),
        ("The [driver] must not start without it.", True),
        ("A [Courier] must sign for them before leaving.", True),
        ("A [Consignment] marked with it must be kept cool.", True),
        ("The [Driver] must never lend it to others.", True),
        ("A [Courier] is required to sign it.", True),
        ("It must be kept with the [Loan].", True),
        ("They must not touch the [Puzzle].", True),
        ("A [Courier] who finds a crate must sign for it.", False),
        ("The [Clerk] must read letters and answer them.", False),
        ("The [Loan] must be kept until it is returned.", False),
        ("The [Clerk] may find it useful to ask.", False),
        ("If a crate is lost, the [Courier] must not leave without it.", False),
        ("The [Clerk] of a branch must not sign it.", False),
        ("The [Loan] must be renewed when both sides want it.", False),
        ("Every [Vessel] must carry insurance for it.", False),
        ("A [Vessel] needs insurance covering it.", False),
        ("A [Parcel] must have postage on it.", False),
        ("The [Driver] must ensure it is clean.", False),
        ("The [Applicant] must prove it is insured.", False),
        ("The [Form] must be signed before it is sent.", False),
    ],
)
def test_a_sentence_that_needs_another_hangs(text, hangs):
    before, rest = text.split("[")
    mention, after = rest.split("]")
    assert MentionSentence(before, mention, after).hangs is hangs


def test_an_example_is_no_statement():
    assert MentionSentence("Example: two ", "Loans", " take a day.").is_example
    assert not MentionSentence("The example of a ", "Loan", " is short.").is_example
