"""Addresses of the REST API."""

ROOT = "/api"
VERSION = "/v1"
DESCRIPTION = f"{ROOT}{VERSION}/openapi.json"
