"""The app: services, pages, the labelling card and the command line. Never imports torch."""
