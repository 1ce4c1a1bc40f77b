"""The names of a report's files in its folder. The worker writes them and the app reads them."""

TABLES = "tables"
FIGURES = "figures"
REPORT = "report.md"
ENCODERS = "encoders"  # the table of a comparison of encoders
