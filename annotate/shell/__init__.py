"""What surrounds every page. Apart from `pages/`: beside it, Streamlit would take that folder for its own."""
