import pytest

from textveil.distribution.base import EncoderDistributor
from textveil.errors import MissingExtraError, ParameterError, ResourceError
from textveil.models.encoders import Encoder
from textveil.models.files import ModelFiles


class Silent(EncoderDistributor):
    """Asks an encoder for nothing, and notes when it is loaded."""

    name = "silent"
    packages = ("numpy",)
    loaded = 0

    def load(self) -> Encoder:
        self.loaded += 1
        return Encoder.load(self.files, attention=None, batch_size=self.batch_size, device=self.device)

    def score(self, documents):
        return [[None] * len(document.words) for document in documents]


def test_the_encoder_is_found_at_once_and_loaded_on_first_use(make_encoder):
    silent = Silent(model=make_encoder(), batch_size=3, device="cpu")
    assert silent.loaded == 0
    assert silent.encoder is silent.encoder
    assert silent.loaded == 1


def test_a_certificate_records_the_model_and_no_path(make_encoder):
    folder = make_encoder()
    recorded = Silent(model=folder).as_dict()
    assert recorded["options"] == {}
    assert recorded["model"] == {"name": folder.name, "sha256": ModelFiles.find(folder).sha256}
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
