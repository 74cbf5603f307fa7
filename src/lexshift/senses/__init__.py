"""Evidence of which meaning moved: how typical each usage is of its period. Arrays in, plain values out."""
