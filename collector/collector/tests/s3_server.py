"""moto's S3 server on a free port, which it prints. It ends with its stdin."""

import sys

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
print(f"{host}:{port}", flush=True)
sys.stdin.read()
server.stop()
