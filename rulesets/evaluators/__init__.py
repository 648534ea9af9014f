"""How each kind of rule is evaluated: one file per kind. `rules.rules_of` makes the rules of a ruleset."""
