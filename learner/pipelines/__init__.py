"""The papers' pipelines: each a row of stages over files (see `pipeline.py`)."""
