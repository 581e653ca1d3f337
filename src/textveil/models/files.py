"""Files of pretrained models: finding, hashing and loading them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from textveil.errors import ParameterError, ResourceError
from textveil.extras import require
from textveil.registry import Option
from textveil.storage.atomic import hash_files

EXTRA = "neural"
MODEL_SOURCES = "a resource, a folder, or OWNER/NAME in the Hugging Face cache"
"""The possible values of a parameter that names a model."""
DEVICE_OPTION = Option(
    "device",
    str,
    None,
    "The PyTorch device: cpu, cpu:THREADS, cuda, mps; by default CUDA if there is such a GPU.",
    changes_results=False,
)
"""The option of methods that run a model."""
PRECISION_OPTION = Option(
    "precision",
    str,
    "float32",
    "The numbers that the encoder computes with. The shorter ones are faster on some devices, and less exact.",
    choices=("float32", "bfloat16", "float16"),
)
"""The option of methods that run an encoder."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")  # an unpaired surrogate, which tokenizers refuse
_CPU_THREADS = re.compile(r"cpu:([1-9]\d{0,2})")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_MODEL_FILES = (
    "config.json", "*/config.json", "modules.json", "sentence_bert_config.json", "tokenizer*.json",
    "special_tokens_map.json", "vocab*", "merges.txt", "*.model", "*.safetensors", "*.gguf",
)  # fmt: skip


@dataclass(frozen=True)
class ModelFiles:
    """The folder of a model, and its name in certificates."""

    name: str
    folder: Path

    @classmethod
    def find(cls, model: str | Path) -> ModelFiles:
        """Find a model that is a resource, a folder, or OWNER/NAME in the Hugging Face cache.

        Raises:
            ResourceError: It is not on this machine. The message has the command that downloads it.
        """
        name = str(model)
        from textveil.resources import RESOURCES, find

        for resource in RESOURCES.values():
            if name.lower() in (resource.name, *map(str.lower, resource.hub_names)):
                return cls(resource.name, find(resource.name))
        if Path(model).is_dir():
            return cls(Path(model).resolve().name, Path(model))
        if isinstance(model, str) and _HUB_ID.fullmatch(model):
            return cls(model, _find_in_hub_cache(model))
        raise ResourceError(
            f"There is no model {name!r}. Give a resource (textveil resources list), a folder, or the OWNER/NAME of "
            "a model in the Hugging Face cache."
        )

    @cached_property
    def sha256(self) -> str:
        """One SHA-256 over the files that results depend on."""
        return hash_files(sorted({path for pattern in _MODEL_FILES for path in self.folder.glob(pattern)}))

    @property
    def description(self) -> str:
        """The name with the first digits of the hash."""
        return f"{self.name} {self.sha256[:12]}"

    def as_dict(self) -> dict[str, str]:
        """The record of the model in certificates, without its path."""
        return {"name": self.name, "sha256": self.sha256}


def _find_in_hub_cache(name: str) -> Path:
    hub = require("huggingface_hub", extra=EXTRA)
    try:
        return Path(hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError) as error:  # not downloaded, or not a valid name
        raise ResourceError(f"The model {name!r} is not on this machine. Run: hf download {name}") from error


def make_readable(text: str) -> str:
    r"""Replace unpaired surrogates, which tokenizers refuse.

    >>> make_readable("a\ud800b") == "a\ufffdb"
    True
    """
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


@contextmanager
def reading_model(files: ModelFiles, kind: str = "encoder") -> Iterator[None]:
    """Silence transformers while a model is loaded, and turn its exceptions into a ResourceError."""
    logging = require("transformers.utils.logging", extra=EXTRA)
    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    except Exception as error:  # transformers, safetensors, tokenizers and JSON have no common base
        first_line = str(error).strip().partition("\n")[0]
        raise ResourceError(
            f"The folder of {files.name!r} has no readable {kind} ({type(error).__name__}: {first_line}). "
            "It needs config.json, a tokenizer and weights as safetensors."
        ) from error
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


def choose_device(device: str | None) -> str:
    """The given device without a number of threads; by default a GPU if there is one."""
    torch = require("torch", extra=EXTRA)
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if _CPU_THREADS.fullmatch(device):
        return "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ParameterError(f"PyTorch has no device {device!r} here. Remove `device`, or set it to cpu.") from error
    return device


def count_threads(device: str | None) -> int:
    """The threads of ``cpu:THREADS``; otherwise as many as PyTorch uses.

    >>> count_threads("cpu:3")
    3
    """
    found = _CPU_THREADS.fullmatch(device or "")
    return int(found[1]) if found else int(require("torch", extra=EXTRA).get_num_threads())
