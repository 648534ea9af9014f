"""Series: several runs in one folder, one after the other, that can be resumed."""
