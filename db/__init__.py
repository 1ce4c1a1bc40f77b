"""The product's data: its words, files, tables, and one module of functions for each aggregate."""
