"""The papers' pipelines: each a sequence of stages over files (see `pipeline.py`)."""
