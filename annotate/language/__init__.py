"""The languages of the pages that annotators see: what they are called, and their texts."""
