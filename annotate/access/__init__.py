"""Who may do what: accounts, logins, roles; and the gate that every request passes."""
