"""The inquiries to judges, and the parsing of replies: published prompts, one file a judge."""
