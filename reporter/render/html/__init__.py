"""Pages of HTML: one file each, without a network, readable without JavaScript."""
