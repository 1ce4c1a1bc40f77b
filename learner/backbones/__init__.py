"""Pre-trained models that pipelines stand on: a reader of spans, a generator of texts."""
