"""Alembic: how the tables came to be as they are."""
