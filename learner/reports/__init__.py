"""The reports of experiments and pipelines: means over seeds, tables, charts."""
