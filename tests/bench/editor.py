"""A language server's client for the benchmarks: one thread reads, one writes, what came is kept with its time."""
import json
import os
import queue
import subprocess
import threading
import time


def frame(method, params=None, id=None):
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    if id is not None:
        message["id"] = id
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Editor:
    """Starts `argv`; with `reads=False` nothing is ever read from it."""

    def __init__(self, argv, cwd, env=None, reads=True):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        )
        self.pid = self.process.pid
        self.messages = []  # (time, message)
        self.came = threading.Condition()
        self.last_id = 0
        self.outgoing = queue.SimpleQueue()
        threading.Thread(target=self.write_out, daemon=True).start()
        if reads:
            threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def read(self):
        stream = open(self.process.stdout.fileno(), "rb", closefd=False)
        while True:
            length = None
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length is None:
                return
            body = stream.read(length)
            now = time.monotonic()
            message = json.loads(body)
            if "method" in message and "id" in message:
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": None}
                body = json.dumps(answer).encode()
                self.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            with self.came:
                self.messages.append((now, message))
                self.came.notify_all()

    def write(self, data):
        self.outgoing.put(data)

    def write_out(self):
        """Who reads never waits for the server to read, or both would wait for ever."""
        try:
            while True:
                view = memoryview(self.outgoing.get())
                while view:
                    view = view[os.write(self.process.stdin.fileno(), view):]
        except OSError:
            pass  # the server is gone

    def notify(self, method, params):
        self.write(frame(method, params))

    def request(self, method, params=None):
        """The answer and when it came."""
        self.last_id += 1
        self.write(frame(method, params, self.last_id))
        wanted = self.last_id
        return self.until(lambda it: it.get("id") == wanted and "method" not in it)

    def until(self, is_it, since=0, patience=60):
        """The first message from number `since` on that is so, and when it came."""
        end = time.monotonic() + patience
        with self.came:
            while True:
                for at, message in self.messages[since:]:
                    if is_it(message):
                        return at, message
                since = len(self.messages)
                if not self.came.wait(end - time.monotonic()):
                    raise TimeoutError(f"the last of {since} messages: {self.messages[-1:]}")

    def all_answers(self, first, amount, patience=15):
        """When the last answer to that many requests came, and how many came before nothing did any more."""
        seen, answered, end = 0, 0, time.monotonic()
        with self.came:
            while answered < amount:
                for end, message in self.messages[seen:]:
                    seen += 1
                    answered += first <= (message.get("id") or 0) < first + amount and "method" not in message
                if answered < amount and not self.came.wait(patience):
                    break
        return end, answered

    def initialize(self, folders, capabilities=None):
        """When the answer came."""
        uris = [{"uri": f"file://{it}", "name": os.path.basename(it)} for it in folders]
        params = {
            "processId": os.getpid(),
            "rootUri": uris[0]["uri"],
            "workspaceFolders": uris,
            "capabilities": capabilities or {},
        }
        at, _ = self.request("initialize", params)
        self.notify("initialized", {})
        return at

    def open(self, path, language, text):
        document = {"uri": f"file://{path}", "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, path, version, text):
        """When the message was ready: what making it takes is the client's affair."""
        document = {"uri": f"file://{path}", "version": version}
        data = frame("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        ready = time.monotonic()
        self.write(data)
        return ready

    def published(self, path, is_it, since=0):
        """When diagnostics of the file came that are so."""
        uri = f"file://{path}"

        def fits(message):
            params = message.get("params")
            is_about = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
            return is_about and is_it(params["diagnostics"])

        return self.until(fits, since)[0]


def switches(pid):
    """How often the process's threads were put on a processor."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status") as file:
            total += sum(int(it.split()[1]) for it in file if "ctxt_switches" in it)
    return total
