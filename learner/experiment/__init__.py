"""Experiments: a grid of strategies, seeds and data sets, each cell a simulation, with tables and figures."""
