# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chromium without a screen, and what the tests ask of a page."""

import base64
import os
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from cockpit_site import WAIT, wait_until

# The texts that can be read less well than WCAG 2 asks: the contrast with what is behind them is below 4.5.
PALE = """
const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const numbers = color => color.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const opaque = color => numbers(color).length === 3 || numbers(color)[3] > 0;
const pale = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let n = 0;
while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility())
        continue;
    let behind = element;
    while (behind.parentElement && !opaque(getComputedStyle(behind).backgroundColor))
        behind = behind.parentElement;
    const style = getComputedStyle(element);
    const pair = [style.fill && element.namespaceURI.endsWith('svg') ? style.fill : style.color, getComputedStyle(behind).backgroundColor];
    const [a, b] = pair.map(color => light(numbers(color)) + 0.05);
    n++;
    if (Math.max(a, b) / Math.min(a, b) < 4.5)
        pale.push(walker.currentNode.data + ': ' + pair);
}
return n > 10 ? pale : ['only ' + n + ' texts'];
"""


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="rdmad-chromium-")
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # root has no other way, and a container has no shared memory to speak of
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                         f"--user-data-dir={self.profile.name}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        os.environ["TZ"] = "UTC"
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_script_timeout(WAIT)
        self.resize(1000)

    def close(self):
        self.driver.quit()
        self.profile.cleanup()

    def resize(self, width, height=700):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def set_dark(self, dark):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, url):
        self.driver.get("about:blank")
        # those of a cockpit-ws that has ended
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.driver.get(url)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, expression, what=None):
        """Returns the first value of the JavaScript EXPRESSION that is true."""
        return wait_until(lambda: self.run(f"return {expression}"), what or expression)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent", selector)

    def cell(self, port, column):
        # innerText leaves out what is hidden
        return self.run("""
            const rows = [...document.querySelectorAll('.ports tbody tr')];
            const row = rows.find(r => r.querySelector('a')?.textContent === arguments[0]);
            return row?.querySelector(`[data-name="${arguments[1]}"]`)?.innerText.trim();""", port, column)

    def names(self):
        """The ports in the order of the table."""
        return self.run("return [...document.querySelectorAll('.ports tbody a')].map(a => a.textContent)")

    def value(self, name):
        """The value of an attribute on the page of a port."""
        return self.text(f'#port-view dd[data-name="{name}"]')

    def key(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def focused(self):
        return self.run("return document.activeElement.textContent")

    def accessible(self):
        """What a screen reader is told: the list of (role, name)."""
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]

    def pale(self):
        return self.run(PALE)

    def errors(self):
        """What the page has reported on the console as an error."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def picture(self, name, height=700):
        """Writes NAME.png if somebody wants pictures."""
        directory = os.environ.get("SCREENSHOTS")
        if not directory:
            return
        width = self.run("return window.innerWidth")
        self.resize(width, height)
        os.makedirs(directory, exist_ok=True)
        png = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
        with open(os.path.join(directory, f"{name}.png"), "wb") as file:
            file.write(base64.b64decode(png))
        self.resize(width)
