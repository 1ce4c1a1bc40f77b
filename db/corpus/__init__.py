"""Files into checked texts: the same code for the importer and for the simulator."""
