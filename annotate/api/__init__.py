"""The REST API: what programs may ask, by the same services, rights and limits as the pages."""
