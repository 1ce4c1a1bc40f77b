"""The REST API: what programs may ask, by the same services, rights and limits as the pages."""

ROOT = "/api"
VERSION = "/v1"
DESCRIPTION = f"{ROOT}{VERSION}/openapi.json"
