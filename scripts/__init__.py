"""What makes parts of the documents from the code."""
