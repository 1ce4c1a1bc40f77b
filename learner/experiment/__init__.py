"""Experiments: a grid of strategies, seeds and data sets, each cell a simulation, and the tables and figures of it."""
