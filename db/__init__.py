"""Rows: the words of the product, its tables, and one module of functions for each aggregate."""
