"""What judges are asked, and how their words are read: prompts as published, one file a judge."""
