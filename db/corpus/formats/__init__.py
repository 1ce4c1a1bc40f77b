"""How files hold tables: delimited text, JSON Lines, Parquet and workbooks."""
