"""Pre-trained models that pipelines build on: a span reader, a text generator, a re-ranker."""
