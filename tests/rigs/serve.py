"""A server for tests: `serve.py PORT MODE`. Each start leaves a line in `../agent/served`.

Answers `/users` with what `users.txt` says (500 without one), `/away` with a way to another address of this
machine, everything else with `ok`.
"""

import http.server
import subprocess
import sys
import time

port, mode = int(sys.argv[1]), sys.argv[2]
with open("../agent/served", "a") as served:
    served.write(mode + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = 200, "ok\n"
        if self.path == "/users":
            try:
                body = '{"users": %s}\n' % open("users.txt").read().strip()
            except OSError:
                status, body = 500, "no users\n"
        self.send_response(302 if self.path == "/away" else status)
        if self.path == "/away":
            self.send_header("Location", "http://127.0.0.1:%d/" % port)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


if mode == "exits":
    print("starting", flush=True)
    sys.exit("no database")
if mode == "late":
    time.sleep(0.3)
if mode == "children":
    subprocess.Popen(["setsid", "sleep", "600"])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
