"""What each request and answer of the REST API consists of, one module for each kind of operation."""
