"""Where the REST API lies."""

ROOT = "/api"
VERSION = "/v1"
DESCRIPTION = f"{ROOT}{VERSION}/openapi.json"
