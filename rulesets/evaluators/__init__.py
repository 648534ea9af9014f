"""How each kind of rule is judged: one file a kind. `rules.rules_of` makes the rules of a ruleset."""
