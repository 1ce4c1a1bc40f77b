"""What Streamlit does not have itself."""
