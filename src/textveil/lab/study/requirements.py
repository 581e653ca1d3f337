"""The models and data that a study needs, and those that this machine lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textveil.errors import ResourceError
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.lab.study.study import REGISTRIES, Study, choose_classifier, find_model_option
from textveil.models.files import MODEL_SOURCES, ModelFiles
from textveil.registry import Method
from textveil.resources import RESOURCES, find
from textveil.text.identifiers import MODEL as ENTITY_MODEL

_DATA = {
    ("distributions", "ic"): ("wordnet", "wordnet-ic"),
    ("metrics", "identifiers"): (ENTITY_MODEL,),
}
"""The resources of methods that have no option for them."""


def list_models(study: Study) -> Iterator[tuple[str, str]]:
    """The name of every method that uses a model, with the model. Models of classifiers are included."""
    for key, registry in REGISTRIES.items():
        for name, options in getattr(study, key).items():
            method = registry.load(name)
            unused = method.list_unused(options) if registry is METRICS else ()
            found = [*_find_models(method, options, unused), *_DATA.get((key, name), ())]
            if (classifier := choose_classifier(method, options)) is not None:
                found += _find_models(CLASSIFIERS.load(classifier), options.get("classifier_options") or {})
            yield from ((name, model) for model in found)


def _find_models(method: type[Method], options: Mapping[str, Any], unused: Sequence[str] = ()) -> Sequence[str]:
    """The models of a method with some options, given or by default, except those of an unused option."""
    option = find_model_option(method)
    if option is None or option in unused:
        return ()
    value = options.get(option, method.list_options()[option].default)
    return [str(value)] if isinstance(value, str) else [str(each) for each in value or ()]


def find_missing(study: Study) -> dict[str, list[str]]:
    """The models and data that this machine lacks, each with the names of the methods that need it."""
    missing: dict[str, list[str]] = {}
    for method, model in list_models(study):
        try:
            _ = find(model) if model in RESOURCES else ModelFiles.find(model)
        except ResourceError:
            users = missing.setdefault(model, [])
            users += [] if method in users else [method]
    return missing


def describe_missing(missing: Mapping[str, list[str]]) -> str:
    """All missing models and data in one message, with the commands that get them."""
    listed = ", ".join(f"{model} ({', '.join(users)})" for model, users in missing.items())
    resources = [model for model in missing if model in RESOURCES]
    commands = [f"textveil resources install {' '.join(resources)}"] if resources else []
    others = [model for model in missing if model not in RESOURCES]
    commands += [f"hf download {model}" for model in others if is_hub_name(model)]
    count = "1 model is" if len(missing) == 1 else f"{len(missing)} models are"
    said = f"{count} not on this machine: {listed}."
    if commands:
        said += f" Get {'it' if len(missing) == 1 else 'them'} with: {'; '.join(commands)}"
    if unknown := [repr(model) for model in others if not is_hub_name(model)]:
        said += f"{'.' if commands else ''} There is no model {' and no '.join(unknown)}. A model is {MODEL_SOURCES}."
    return said


def is_hub_name(model: str) -> bool:
    """Whether a name can be that of a model on Hugging Face, such as OWNER/NAME.

    >>> is_hub_name("microsoft/deberta-v3-base"), is_hub_name("gpt3"), is_hub_name("./models/mine")
    (True, False, False)
    """
    return re.fullmatch(r"\w[\w.-]*/[\w.-]+", model) is not None


def check_models(study: Study) -> None:
    """Check that all models and data are on this machine.

    Raises:
        ResourceError: Some are not. The message names all of them.
    """
    if missing := find_missing(study):
        raise ResourceError(describe_missing(missing))
