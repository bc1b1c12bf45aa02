"""Selenium drives pages through `selfprof webdriver`.

`cargo xtask test --only selenium` installs Selenium, runs this, and sets SELFPROF to the path of the program.
"""

import http.server
import os
import subprocess
import threading
import unittest

from selenium import webdriver
from selenium.common.exceptions import (
    JavascriptException,
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
    WebDriverException,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.common.options import ArgOptions
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import Select, WebDriverWait

PAGES = {
    "/": """<title>Work</title><script>
        function work(rounds) {
          let sum = 0;
          for (let i = 0; i < rounds; i++) sum += i % 7;
          return new Promise((resolve) => setTimeout(resolve, 1, sum));
        }
      </script>""",
    "/form": """<title>Form</title><body><form>
        <input name="who" value="nobody"><input type="checkbox" name="sure">
        <select name="size"><option>small</option><option>large</option></select>
      </form><p id="said"></p><a href="/">work</a><p style="display: none">hidden</p>
      <script>
        document.forms[0].onsubmit = (event) => {
          event.preventDefault();
          const { who, sure, size } = event.target.elements;
          document.querySelector('#said').textContent = `${who.value}, ${sure.checked}, ${size.value}`;
        };
        setTimeout(() => document.body.append(Object.assign(document.createElement('i'), { id: 'late' })), 20);
      </script>""",
    "/frames": "<iframe name='inner' src='/'></iframe>",
}

# Starts a profiler that takes one sample at its start, and further ones only if they are forced.
START = "window.profiler = new Profiler({ sampleInterval: 2147483, maxBufferSize: 1000 })"
STOP = "return profiler.stop()"


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGES.get(self.path, "not here").encode()
        self.send_response(200 if self.path in PAGES else 404)
        self.send_header("content-type", "text/html")
        self.send_header("document-policy", "js-profiling")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Endpoint(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        cls.origin = f"http://127.0.0.1:{cls.server.server_port}"
        cls.endpoint = subprocess.Popen(
            [os.environ["SELFPROF"], "webdriver", "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        cls.addClassCleanup(cls.endpoint.wait)
        cls.addClassCleanup(cls.endpoint.terminate)
        cls.addClassCleanup(cls.endpoint.stdout.close)
        cls.url = cls.endpoint.stdout.readline().split()[-1]

    def setUp(self):
        options = ArgOptions()
        options.set_capability("browserName", "selfprof")
        self.driver = webdriver.Remote(self.url, options=options)
        self.addCleanup(self.driver.quit)
        self.driver.command_executor.add_command("forceSample", "POST", "/session/$sessionId/forcesample")

    def open(self, path):
        self.driver.get(self.origin + path)

    def force_samples(self, count):
        for _ in range(count):
            self.assertIsNone(self.driver.execute("forceSample")["value"])

    def test_each_forced_sample_is_recorded(self):
        self.open("/")
        self.driver.execute_script(START)
        self.force_samples(2)
        self.assertEqual(self.driver.execute_script("return work(1000)"), 2997)
        self.force_samples(3)
        trace = self.driver.execute_script(STOP)
        times = [sample["timestamp"] for sample in trace["samples"]]
        self.assertEqual(len(times), 6)
        self.assertEqual(times, sorted(times))
        self.assertEqual(set(trace), {"frames", "resources", "samples", "stacks"})
        # No profiler is running.
        self.force_samples(1)

    def test_samples_are_forced_in_the_current_frame(self):
        self.open("/frames")
        self.driver.execute_script(START)
        self.driver.switch_to.frame("inner")
        self.driver.execute_script(START)
        self.force_samples(4)
        self.driver.switch_to.default_content()
        self.force_samples(1)
        self.assertEqual(len(self.driver.execute_script(STOP)["samples"]), 2)
        self.driver.switch_to.frame(0)
        self.assertEqual(len(self.driver.execute_script(STOP)["samples"]), 5)

    def test_a_profile_has_the_functions_of_the_page(self):
        self.open("/")
        profile = """
            const [done] = arguments;
            const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 });
            (async () => {
              for (let round = 0; round < 30; round++) await work(2e6);
              return await profiler.stop();
            })().then(done);
        """
        trace = self.driver.execute_async_script(profile)
        names = {frame["name"]: frame.get("resourceId") for frame in trace["frames"]}
        self.assertIn("work", names)
        self.assertEqual(trace["resources"][names["work"]], self.origin + "/")

    def test_forms(self):
        self.open("/form")
        field = self.driver.find_element(By.NAME, "who")
        field.clear()
        field.send_keys("Grace", Keys.BACKSPACE, "y")
        self.driver.find_element(By.NAME, "sure").click()
        Select(self.driver.find_element(By.NAME, "size")).select_by_visible_text("large")
        field.send_keys(Keys.ENTER)
        self.assertEqual(self.driver.find_element(By.ID, "said").text, "Gracy, true, large")
        self.assertTrue(self.driver.find_element(By.NAME, "sure").is_selected())
        self.assertEqual(self.driver.find_element(By.TAG_NAME, "body").tag_name, "body")
        self.assertEqual(field.get_attribute("name"), "who")
        self.assertEqual(field.get_property("value"), "Gracy")
        self.assertNotIn("hidden", self.driver.find_element(By.TAG_NAME, "body").text)

    def test_waiting(self):
        self.driver.implicitly_wait(30)
        self.open("/form")
        self.driver.find_element(By.ID, "late")
        self.driver.implicitly_wait(0)
        with self.assertRaises(NoSuchElementException):
            self.driver.find_element(By.ID, "never")
        body = self.driver.find_element(By.TAG_NAME, "body")
        self.driver.find_element(By.LINK_TEXT, "work").click()
        WebDriverWait(self.driver, 30).until(expected_conditions.title_is("Work"))
        with self.assertRaises(StaleElementReferenceException):
            body.get_property("id")
        self.driver.back()
        self.assertEqual(self.driver.title, "Form")
        self.driver.refresh()
        self.assertEqual(self.driver.current_url, self.origin + "/form")

    def test_errors(self):
        self.open("/")
        with self.assertRaisesRegex(JavascriptException, "RangeError: mine"):
            self.driver.execute_script("throw new RangeError('mine')")
        self.driver.set_script_timeout(1)
        with self.assertRaises(TimeoutException):
            self.driver.execute_script("for (;;);")
        self.open("/")
        with self.assertRaises(WebDriverException) as caught:
            self.driver.get_screenshot_as_png()
        self.assertIn("nothing is painted", str(caught.exception))

    def test_windows_and_cookies(self):
        self.open("/")
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.assertEqual(len(self.driver.window_handles), 2)
        self.open("/form")
        self.driver.add_cookie({"name": "a", "value": "1"})
        self.driver.close()
        self.driver.switch_to.window(first)
        self.assertEqual(self.driver.title, "Work")
        self.assertEqual(self.driver.get_cookie("a")["value"], "1")
        self.driver.delete_all_cookies()
        self.assertEqual(self.driver.get_cookies(), [])


if __name__ == "__main__":
    unittest.main()
