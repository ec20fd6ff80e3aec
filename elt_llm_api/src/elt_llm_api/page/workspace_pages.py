"""The pages of the workspace, in the order of the navigation."""

# Name in the address to what people call it.
PAGES = {
    "ask": "Ask",
    "documents": "Documents",
    "glossary": "Glossary",
    "catalogue": "Catalogue",
    "model": "Model",
    "coverage": "Coverage",
    "reports": "Reports",
}
