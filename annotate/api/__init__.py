"""The REST API: it offers programs the same services as the pages, under the same rights and limits."""
