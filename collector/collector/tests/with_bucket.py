"""Collectors that write to a bucket, with `--ack bucket`: what was acknowledged is in it, once, although the collector is killed and the disk
with its log is lost. The bucket is that of moto, on loopback.

`cargo xtask test --only collector-bucket` runs this. SELFPROF_COLLECTOR_PROGRAM is the path of the program.
"""

import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from moto.server import ThreadedMotoServer

PROGRAM = os.environ["SELFPROF_COLLECTOR_PROGRAM"]

# moto tells of each request.
logging.getLogger("werkzeug").setLevel(logging.ERROR)

# How often a collector is killed and its log deleted.
KILLS = 3

SENDERS = 4


def request(url, body=None, method=None):
    with urllib.request.urlopen(
        urllib.request.Request(url, data=body, method=method), timeout=60
    ) as response:
        return response.status, response.read()


def profile(number):
    """A profile of three samples."""
    trace = {
        "resources": [],
        "frames": [{"name": "main"}],
        "stacks": [{"frameId": 0}],
        "samples": [{"timestamp": time, "stackId": 0} for time in (0, 10, 20)],
    }
    return {"app": "shop", "id": number, "page": f"/{number}", "trace": trace}


class Collector:
    def __init__(self, folder, bucket):
        environment = dict(
            os.environ,
            AWS_ENDPOINT_URL=bucket,
            AWS_ALLOW_HTTP="true",
            AWS_ACCESS_KEY_ID="key",
            AWS_SECRET_ACCESS_KEY="secret",
            AWS_REGION="us-east-1",
        )
        self.log = os.path.join(folder, "log")
        command = [PROGRAM, "serve", "--listen", "127.0.0.1:0"]
        command += ["--data", "s3://profiles/data", "--log", self.log, "--ack", "bucket"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        self.url = self.process.stdout.readline().split()[-1].decode()

    def lose(self):
        """Kills it, and loses its disk."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.log)

    def ask(self, path):
        return json.loads(request(f"{self.url}{path}")[1])


class WithBucket(unittest.TestCase):
    def setUp(self):
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.addCleanup(self.server.stop)
        host, port = self.server.get_host_and_port()
        self.bucket = f"http://{host}:{port}"
        request(f"{self.bucket}/profiles", method="PUT")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def send(self, collector, numbers, acknowledged):
        """Sends until the collector has gone."""
        while True:
            number = next(numbers)
            try:
                status, _ = request(f"{collector.url}/v1/profiles", json.dumps(profile(number)).encode())
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                return
            self.assertEqual(status, 202)
            acknowledged.append(f"/{number}")

    def test_acknowledged_profiles_survive_the_disk(self):
        acknowledged = []
        for kill in range(KILLS):
            collector = Collector(os.path.join(self.folder, str(kill)), self.bucket)
            before = len(acknowledged)
            senders = []
            for sender in range(SENDERS):
                numbers = (f"{kill}-{sender}-{count}" for count in range(10**6))
                senders.append(threading.Thread(target=self.send, args=(collector, numbers, acknowledged)))
                senders[-1].start()
            # Somewhere in a write.
            while len(acknowledged) < before + 3 * SENDERS:
                time.sleep(0.05)
            time.sleep(0.3 * kill)
            collector.lose()
            for sender in senders:
                sender.join()
        collector = Collector(os.path.join(self.folder, "last"), self.bucket)
        self.addCleanup(collector.lose)
        stored = [row["page"] for row in collector.ask("/api/v1/profiles?app=shop&top=100000")["profiles"]]
        self.assertEqual(len(stored), len(set(stored)), "a profile is there twice")
        self.assertEqual(set(acknowledged) - set(stored), set())
        functions = collector.ask("/api/v1/functions?app=shop")
        self.assertEqual((functions["profiles"], functions["samples"]), (len(stored), 3 * len(stored)))


if __name__ == "__main__":
    unittest.main()
