"""Groups of texts: clusterings of scored pairs, and the measures of entities; arrays alone."""
