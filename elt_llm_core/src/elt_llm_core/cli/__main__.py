"""`python -m elt_llm_core.cli`: the umbrella command where no script is installed."""

from elt_llm_core.cli import main

main()
