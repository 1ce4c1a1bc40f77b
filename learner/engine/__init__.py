"""Where the parts of a large computation are worked at: in this process, or on the machines of a Ray cluster."""
