"""Five messy lists with truth, of which no row is real, and what Allpairs and other tools make of them."""
