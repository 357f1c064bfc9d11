# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for tests of pages, by the protocol of its driver (WebDriver)."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

DRIVER = shutil.which("chromedriver")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name of a reference to an element
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxies the machine has
KEYS = {"Escape": "\ue00c", "Right": "\ue014", "Left": "\ue012", "Enter": "\ue007", "Tab": "\ue004"}


class Browser:
    """A browser with one page. `with Browser() as browser:`."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self._arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        self._arguments += [f"--window-size={width},{height}"]

    def __enter__(self) -> Self:
        assert DRIVER is not None
        self._driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True)
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if match := re.search(r"successfully on port (\d+)", line):
                self._at = f"http://127.0.0.1:{match.group(1)}"
                break
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": self._arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._at += f"/session/{session['sessionId']}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._call("DELETE", "", None)
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=30)

    def _call(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._at + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with _DIRECT.open(request, timeout=120) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.loads(error.read())["value"]["message"]) from None

    def _settle(self) -> None:
        """Waits until the page has seen what was done: that its address changed is told to it in a task of its own."""
        later = "requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(done))))"
        self._call("POST", "/execute/async", {"script": f"const done = arguments[0]; {later};", "args": []})

    def open(self, page: Path, fragment: str = "") -> None:
        """Loads a page from disk."""
        self._call("POST", "/url", {"url": f"{page.absolute().as_uri()}{fragment}"})
        self._settle()

    def media(self, kind: str = "", dark: bool = False) -> None:
        """Shows the page as on a "screen" or as it is in "print", to a user who wants dark colours or not."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        body = {"cmd": "Emulation.setEmulatedMedia", "params": {"media": kind, "features": features}}
        self._call("POST", "/goog/cdp/execute", body)
        self._settle()

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        return self._call("POST", "/execute/sync", {"script": f"return {script}", "args": []})

    def keys(self, *keys: str) -> None:
        """Keys pressed one after the other, wherever the focus is."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        body = {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}
        self._call("POST", "/actions", body)
        self._settle()

    def click(self, selector: str) -> None:
        """A click on the first element that a CSS selector finds."""
        element = self._call("POST", "/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/element/{element[_ELEMENT]}/click", {})
        self._settle()

    def type(self, selector: str, text: str) -> None:
        """Types text into an element."""
        element = self._call("POST", "/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/element/{element[_ELEMENT]}/value", {"text": text})

    def console(self) -> list[str]:
        """What the page wrote to the console since the last call, errors of the browser included."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot", None)))
