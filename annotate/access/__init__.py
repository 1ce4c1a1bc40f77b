"""Who may do what: accounts, logins, roles and API tokens."""
