"""Files into checked texts, for the app's import and for the simulator."""
