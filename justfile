# The few commands of this project; each is one script.

default: check test

# Format, lint, types, layers, spelling, names.
check:
    scripts/check

# Every test; arguments go to pytest.
test *args:
    scripts/test {{args}}

# Mend what can be mended.
fix:
    uv run --group dev ruff check --fix . ; uv run --group dev ruff format .

# The main job on the shipped sample.
demo:
    uv run elt-llm demo

# Generate the sample again, or check that it is as committed.
sample *args:
    uv run --group dev python scripts/sample/make_sample.py {{args}}
