"""Products as sheets, to be edited by reviewers and imported again."""
