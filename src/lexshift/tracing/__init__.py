"""How words moved over more than two periods: changes from period to period, when they happened, and seasons."""
