"""The trainings of a run: which views, at which rate, from which backbone."""

from dataclasses import dataclass

from allpairs.learner.light.catalog.multiview import MultiViewConfig

ABLATIONS = (  # Ju, Yang and Wang (2021), Table 3
    ("rank", "rank-positives"),
    ("rank", "p2q"),
    ("rank", "q2p"),
    ("rank", "p2q-swap"),
    ("rank-swap", "p2q"),
    ("rank-swap", "p2q-swap"),
)
TITLES = {
    "rank": "Rank",
    "rank-swap": "Rank (swap)",
    "rank-positives": "Rank*",
    "p2q": "P2Q",
    "p2q-swap": "P2Q (swap)",
    "q2p": "Q2P",
}


@dataclass(frozen=True)
class Variant:
    """A backbone and its training data: a ranking view, and optionally a second view at a rate."""

    backbone: str
    first: str
    second: str | None
    rate: float

    @property
    def single(self) -> bool:
        """Whether it is trained to rank only."""
        return self.second is None

    @property
    def views(self) -> str:
        """Its views in words."""
        return TITLES[self.first] + ("" if self.second is None else f" + {TITLES[self.second]}")

    @property
    def title(self) -> str:
        """Its views and its rate in words."""
        return f"single view: {self.views}" if self.single else f"multi view: {self.views}, rate {self.rate:g}"


def variants_of(config: MultiViewConfig) -> list[Variant]:
    """Return all distinct variants: single view and rates of every backbone, ablations of the first one."""
    variants = []
    for backbone in dict.fromkeys([config.model.backbone, *config.sizes]):
        variants.append(Variant(backbone, config.first_view, None, 0.0))
        for rate in sorted({config.rate, *config.rates}):
            variants.append(Variant(backbone, config.first_view, config.second_view, rate))
    if config.ablations:
        backbone = config.model.backbone
        variants.append(Variant(backbone, "rank", None, 0.0))
        variants += [Variant(backbone, first, second, config.rate) for first, second in ABLATIONS]
    return list(dict.fromkeys(variants))
