"""What experiments and pipelines report with: means over seeds, tables, charts."""
