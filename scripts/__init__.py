"""Scripts that write parts of the documents from the code."""
