"""`python -m elt_llm_core.cli`: the umbrella command without an installed script."""

from elt_llm_core.cli import main

main()
