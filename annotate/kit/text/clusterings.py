"""What each way to make groups of matches is called."""

from allpairs.db.domain import Clustering

TITLES = {
    Clustering.CONNECTED: "Connected matches",
    Clustering.AVERAGE: "Average linkage",
    Clustering.CORRELATION: "Correlation clustering",
    Clustering.ONE_TO_ONE: "One to one",
    Clustering.ONE_TO_MANY: "One to many",
}
