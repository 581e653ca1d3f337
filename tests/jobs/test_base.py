import inspect

from textveil.jobs.options import ObfuscatesTexts
from textveil.obfuscator import Obfuscator


def test_an_obfuscator_offers_all_that_jobs_ask_for(tiny):
    obfuscator = Obfuscator(tiny)
    for name in ObfuscatesTexts.__annotations__:
        assert hasattr(obfuscator, name)
    asked = inspect.signature(ObfuscatesTexts.obfuscate_all).parameters
    assert asked.keys() <= inspect.signature(Obfuscator.obfuscate_all).parameters.keys()
