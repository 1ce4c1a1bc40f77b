"""Addresses of the REST API."""

ROOT = "/api"
VERSION = "/v1"
DESCRIPTION = f"{ROOT}{VERSION}/openapi.json"
REFERENCE = f"{ROOT}{VERSION}/docs"  # the same for people
