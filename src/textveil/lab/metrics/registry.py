"""The registry of metrics. Each metric has its own file."""

from textveil.lab.metrics.base import Metric
from textveil.registry import Registry

METRICS: Registry[type[Metric]] = Registry("metric", Metric)
"""The metrics by name, each a kind of ``Metric``."""
METRICS.register("identifiers", "textveil.lab.metrics.identifiers:Identifiers", aliases=["pi"])
METRICS.register("attribute", "textveil.lab.attacks.attribute:AttributeInference", aliases=["attackers"])
METRICS.register("downstream", "textveil.lab.metrics.downstream:Downstream", aliases=["utility"])
METRICS.register("similarity", "textveil.lab.metrics.similarity:Similarity", aliases=["cosine"])
METRICS.register("perplexity", "textveil.lab.metrics.perplexity:Perplexity")
METRICS.register("clear_text", "textveil.lab.metrics.clear_text:ClearText")
METRICS.register("inversion", "textveil.lab.attacks.inversion:Inversion")
METRICS.register("overlap", "textveil.lab.metrics.overlap:Overlap", aliases=["rouge"])
METRICS.register("token_similarity", "textveil.lab.metrics.token_similarity:TokenSimilarity", aliases=["bertscore"])
METRICS.register("linkage", "textveil.lab.attacks.linkage:Linkage", aliases=["reidentification"])
METRICS.register("stylometry", "textveil.lab.attacks.stylometry:StylometryInference")
METRICS.register("membership", "textveil.lab.attacks.membership:Membership")
METRICS.register("trade_off", "textveil.lab.metrics.trade_off:TradeOff", aliases=["relative_gain"])


def list_metrics() -> list[str]:
    """The names of all metrics of an evaluation, with those of plugins."""
    return METRICS.list_names()
