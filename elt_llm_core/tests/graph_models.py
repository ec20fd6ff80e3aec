"""A small model with every kind of relation that a walk treats by itself."""

from elt_llm_core.enterprise.model import (
    EnterpriseModel,
    ModelElement,
    ModelLocation,
    ModelRelation,
    ModelView,
    RelationEnd,
)


def element(key: str, name: str, **more) -> ModelElement:
    return ModelElement(id=key, name=name, location=ModelLocation(key=key), **more)


def relation(key, source, target, kind="", name="", direction="forward", **counts):
    ends = [
        RelationEnd(element_id=end, name=end, cardinality=counts.get(side, ""))
        for side, end in (("at_source", source), ("at_target", target))
    ]
    return ModelRelation(
        id=key, source=ends[0], target=ends[1], type=kind, name=name,
        direction=direction,
    )  # fmt: skip


def shop() -> EnterpriseModel:
    """Till -> Ledger -> Bank by flows; Clerk uses Till; Goods and Order counted."""
    return EnterpriseModel(
        name="Shop",
        source_file="shop.xml",
        format="drawio",
        elements=(
            element("A", "APPS", role="domain", domain="APPS", type="Domain"),
            element("D", "DATA", role="domain", domain="DATA", type="Domain"),
            element("till", "Till", type="Application", domain="APPS", parent_id="A"),
            element("ledger", "Ledger", type="Application", domain="APPS",
                    parent_id="A", documentation="Keeps <the> books."),
            element("bank", "Bank", type="Partner"),
            element("clerk", "Clerk", type="Role"),
            element("order", "Order", type="DataObject", domain="DATA", parent_id="D"),
            element("goods", "Goods", type="DataObject", domain="DATA", parent_id="D"),
            element("lone", "Lone", type="DataObject"),
            element("twin", "Ledger", type="DataObject", fact_sheet_id="f-1"),
            element("memo", "Remember", role="note"),
        ),
        relations=(
            relation("r1", "till", "ledger", "Flow", "sales"),
            relation("r2", "ledger", "bank", "Flow", "payments"),
            relation("r3", "till", "ledger", "Flow", "refunds"),
            relation("r4", "till", "clerk", "Serving"),
            relation("r5", "till", "order", "Access", "write"),
            relation("r6", "order", "goods", "", "holds", "none",
                     at_source="0..*", at_target="1..*"),
            relation("r7", "A", "D", "", "reads"),
            relation("r8", "memo", "r7", "Association", direction="none"),
        ),
        views=(ModelView(id="v1", name="Money", element_ids=("till", "bank")),),
    )  # fmt: skip
