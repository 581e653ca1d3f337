"""The registry of metrics. Each metric has its own file."""

from textveil.evaluation.base import Metric
from textveil.registry import Registry

METRICS: Registry[type[Metric]] = Registry("metric", Metric)
"""The metrics by name, each a kind of ``Metric``."""
METRICS.register("identifiers", "textveil.evaluation.identifiers:Identifiers", aliases=["pi"])
METRICS.register("attribute", "textveil.evaluation.attribute:AttributeInference", aliases=["attackers"])
METRICS.register("downstream", "textveil.evaluation.downstream:Downstream", aliases=["utility"])
METRICS.register("similarity", "textveil.evaluation.similarity:Similarity", aliases=["cosine"])
METRICS.register("perplexity", "textveil.evaluation.perplexity:Perplexity")
METRICS.register("clear_text", "textveil.evaluation.clear_text:ClearText")
METRICS.register("inversion", "textveil.evaluation.inversion:Inversion")
METRICS.register("overlap", "textveil.evaluation.overlap:Overlap", aliases=["rouge"])
METRICS.register("token_similarity", "textveil.evaluation.token_similarity:TokenSimilarity", aliases=["bertscore"])
METRICS.register("linkage", "textveil.evaluation.linkage:Linkage", aliases=["reidentification"])
METRICS.register("stylometry", "textveil.evaluation.stylometry:StylometryInference")
METRICS.register("membership", "textveil.evaluation.membership:Membership")
METRICS.register("trade_off", "textveil.evaluation.trade_off:TradeOff", aliases=["relative_gain"])
