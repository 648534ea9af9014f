"""Options that users of other tools type, and what they are called here."""
