"""Figures over all pairs without gold: audit tasks drawn from strata of known size, and what their labels say."""
