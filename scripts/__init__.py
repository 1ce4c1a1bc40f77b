"""Scripts for contributors: generated pages, the lock of packages and its audit, trials of what is shipped."""
