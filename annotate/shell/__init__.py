"""The frame around every page. Apart from `pages/`: Streamlit would treat a `pages/` beside its script as its own."""
