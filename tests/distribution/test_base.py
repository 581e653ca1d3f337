import pytest

from textveil.errors import MissingExtraError, ParameterError, ResourceError
from textveil.methods.distribution.base import EncoderDistributor
from textveil.models.encoders import Encoder
from textveil.models.files import ModelFiles


class Silent(EncoderDistributor):
    """Asks an encoder for nothing, and notes when it is loaded."""

    name = "silent"
    packages = ("numpy",)
    loaded = 0

    def load(self) -> Encoder:
        self.loaded += 1
        return Encoder.load(self.files, attention=None, **self.settings)

    def score(self, documents):
        return [[None] * len(document.words) for document in documents]


def test_the_encoder_is_found_at_once_and_loaded_on_first_use(make_encoder):
    silent = Silent(model=make_encoder(), batch_size=3, device="cpu")
    assert silent.loaded == 0
    assert silent.encoder is silent.encoder
    assert silent.loaded == 1


def test_a_certificate_records_the_model_and_no_path(make_encoder):
    folder = make_encoder()
    recorded = Silent(model=folder, device="cpu").as_dict()
    assert recorded["options"] == {"precision": "float32"}
    assert recorded["model"] == {"name": folder.name, "sha256": ModelFiles.find(folder).sha256, "device": "cpu"}
    assert str(folder) not in str(recorded)


def test_the_default_encoder(minilm):
    assert Silent().files.folder == minilm
    assert list(Silent().versions) == ["numpy"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"batch_size": 0}, ParameterError, "`batch_size` of silent must be a whole number of at least 1"),
        ({"model": "/no/such/folder"}, ResourceError, "There is no model"),
        ({"modle": "x"}, ParameterError, "Did you mean 'model'"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        Silent(**options)


def test_a_missing_package_is_named_before_anything_is_loaded():
    class Absent(Silent):
        packages = ("no-such-package",)

    with pytest.raises(MissingExtraError, match=r"textveil\[neural\]"):
        Absent()


def test_a_precision_is_recorded_and_changes_the_description(make_encoder):
    folder = make_encoder()
    short = Silent(model=folder, precision="bfloat16")
    assert short.as_dict()["options"] == {"precision": "bfloat16"}
    assert short.description.endswith(", precision bfloat16)")
    assert "precision" not in Silent(model=folder).description
    with pytest.raises(ParameterError, match="Choose from: bfloat16, float16, float32"):
        Silent(model=folder, precision="float8")
