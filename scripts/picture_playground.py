"""Take the pictures of the playground for the documentation.

python scripts/picture_playground.py --output docs/figures
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("TEXTVEIL_CHROMIUM", "/usr/bin/chromium")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
PICTURES: dict[str, dict[str, Any]] = {
    "playground": {"viewport": {"width": 1280, "height": 1240}},
    "playground_dark": {"viewport": {"width": 1280, "height": 1240}, "color_scheme": "dark"},
    "playground_phone": {"viewport": {"width": 390, "height": 1950}, "has_touch": True, "is_mobile": True},
}
COLORS = 256


def main() -> None:
    """Start the service, open its page, point at a word, and save what is seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("docs/figures"))
    folder = parser.parse_args().output
    command = [sys.executable, "-m", "textveil.cli.main", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        address = find_address(server)
        with sync_playwright() as playwright, TemporaryDirectory() as profile:
            for name, options in PICTURES.items():
                browser = playwright.chromium.launch_persistent_context(
                    f"{profile}/{name}", executable_path=CHROMIUM, args=list(FLAGS), **options
                )
                page = browser.new_page()
                page.goto(address)
                page.wait_for_selector(".result .chunk")
                page.wait_for_function("!document.body.innerText.includes('being computed')", timeout=300_000)
                page.locator(".result .chunk").nth(12).focus()
                page.wait_for_timeout(300)
                path = folder / f"{name}.png"
                page.screenshot(path=path)
                Image.open(path).convert("RGB").quantize(COLORS).save(path, optimize=True)
                print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
                browser.close()
        server.terminate()


def find_address(server: subprocess.Popen[str]) -> str:
    """The address that the service tells when it is ready."""
    for line in server.stderr or ():
        if found := re.search(r"http://[\w.:]+", line):
            return found.group()
    raise SystemExit("The service did not start.")


if __name__ == "__main__":
    main()
