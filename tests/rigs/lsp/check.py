#!/usr/bin/env python3
"""Judges recorded sessions (see record.py) by the specification: every message typed, in both directions, and the
order of things. Prints one line for each finding; exit 1 if there is one.

usage: check.py SESSION…      needs lsprotocol (tests/tools/python.sh)
"""
import json
import sys

from lsprotocol import types

import offered
import shapes
import typed

OURS = "loopkeeper/"
BEFORE_INITIALIZED = {"window/showMessage", "window/logMessage", "telemetry/event", "window/showMessageRequest"}
OTHER = {"client": "server", "server": "client"}
MAY_SEND = {"clientToServer": {"client"}, "serverToClient": {"server"}, "both": {"client", "server"}}


class Check:
    """One session from its first message to the exit code."""

    def __init__(self):
        self.findings = []
        self.open = {"client": {}, "server": {}}  # id to request, by who asked
        self.used = {"client": set(), "server": set()}
        self.client, self.server = {}, {}  # capabilities
        self.phase = "new"  # initializing, running, shut down (answered), over
        self.said = set()  # of shutdown and exit, by the client
        self.progress = {}  # token to its last kind
        self.published = {}
        self.documents = shapes.Documents()

    def find(self, by, what):
        self.findings.append((by, what))

    def entry(self, entry):
        if "exit" in entry:
            self.exit(entry["exit"])
        elif "broken" in entry:
            self.find(entry["by"], f"no frame: {entry['broken']}")
        elif self.is_object(entry["by"], entry["message"]):
            by, message = entry["by"], entry["message"]
            if "method" in message:
                self.call(by, message)
            else:
                self.answer(by, message)
            for what in shapes.of(message):
                self.find(by, what)

    def is_object(self, by, message):
        if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
            return True
        self.find(by, f"not a message: {message!r:.80}")
        return False

    # Requests and notifications.

    def call(self, by, message):
        method, is_request = message["method"], "id" in message
        if is_request:
            self.request(by, message)
        if method.startswith(OURS):
            self.extension(by, message)
        elif method in types.METHOD_TO_TYPES:
            self.known(by, message, is_request)
        elif by == "server":
            self.find(by, f"{method} is not in the specification")
        self.order(by, method, is_request)

    def request(self, by, message):
        key = json.dumps(message["id"])
        if not isinstance(message["id"], (int, str)) or isinstance(message["id"], bool):
            self.find(by, f"{message['method']} has the id {key}")
        if key in self.used[by]:
            self.find(by, f"{message['method']} uses the id {key} again")
        self.used[by].add(key)
        self.open[by][key] = message

    def known(self, by, message, is_request):
        method = message["method"]
        if by not in MAY_SEND[types.message_direction(method)]:
            self.find(by, f"{method} goes the other way")
            return
        if is_request != (types.METHOD_TO_TYPES[method][1] is not None):
            self.find(by, f"{method} {'has an id' if is_request else 'has no id'}")
        mistyped = typed.of_call(message)
        for what in mistyped:
            self.find(by, f"{method}: {what}")
        if mistyped:
            return
        if by == "server":
            for what in offered.to_client(message, self.client):
                self.find(by, what)
            self.by_server(method, message.get("params"))
        else:
            for what in offered.to_server(message, self.server):
                self.find(by, what)
            self.tokens_of(message.get("params"))
            self.documents.follow(message)

    def by_server(self, method, params):
        if method == "window/workDoneProgress/create":
            self.token(params["token"], "created")
        elif method == "$/progress":
            self.progressed(params)
        elif method == "textDocument/publishDiagnostics":
            if self.published.get(params["uri"]) == params:
                self.find("server", f"the same diagnostics again for {params['uri']}")
            self.published[params["uri"]] = params
            for what in self.documents.outside(params["uri"], params["diagnostics"]):
                self.find("server", what)

    def tokens_of(self, params):
        if isinstance(params, dict) and "workDoneToken" in params:
            self.token(params["workDoneToken"], "lent")

    def token(self, token, how):
        key = json.dumps(token)
        if key in self.progress and self.progress[key] != "end":
            self.find("server", f"the progress token {key} is in use")
        self.progress[key] = how

    def progressed(self, params):
        key, value = json.dumps(params["token"]), params["value"]
        kind = value.get("kind") if isinstance(value, dict) else None
        before = self.progress.get(key)
        fits = {"begin": ("created", "lent"), "report": ("begin", "report"), "end": ("begin", "report")}
        if before not in fits.get(kind, ()):
            self.find("server", f"progress {kind} of {key} after {before}")
        self.progress[key] = kind

    def extension(self, by, message):
        if by == "server" and "loopkeeper" not in (self.client.get("experimental") or {}):
            self.find(by, f"{message['method']} to a client that did not ask for it")
        if by == "client" and "loopkeeper" not in (self.server.get("experimental") or {}):
            self.find(by, f"{message['method']} to a server that did not announce it")

    def order(self, by, method, is_request):
        if by == "client":
            if self.phase == "new" and method not in ("initialize", "exit"):
                self.find(by, f"{method} before initialize")
            if self.said and method != "exit":
                self.find(by, f"{method} after shutdown")
            self.said |= {method} & {"shutdown", "exit"}
            if method == "initialize":
                self.phase = "initializing"
        elif self.phase in ("new", "initializing") and method not in BEFORE_INITIALIZED:
            self.find(by, f"{method} before the answer to initialize")
        elif self.phase == "shut down" and is_request:
            self.find(by, f"{method} after the answer to shutdown")

    # Responses.

    def answer(self, by, message):
        key = json.dumps(message.get("id"))
        asked = self.open[OTHER[by]].pop(key, None)
        if asked is None:
            self.find(by, f"answers {key}, which nobody asked: {message!r:.120}")
            return
        method = asked["method"]
        if "error" in message:
            found = typed.of_error(message)
        elif method in types.METHOD_TO_TYPES:
            found = typed.of_result(message, method)
        else:
            found = [] if set(message) == {"jsonrpc", "id", "result"} else ["more or less than a result"]
        for what in found:
            self.find(by, f"answer to {method}: {what}")
        if "error" not in message and not found:
            self.answered(by, asked, message["result"])

    def answered(self, by, asked, result):
        method = asked["method"]
        if by == "client":
            return
        if method == "initialize":
            self.phase = "running"
            self.client, self.server = asked["params"]["capabilities"], result["capabilities"]
            for what in offered.agreed(self.client, self.server):
                self.find(by, what)
            self.documents.encoding = self.server.get("positionEncoding", "utf-16")
        elif method == "shutdown":
            self.phase = "shut down"
        for what in offered.results(asked, result, self.client, self.server):
            self.find(by, f"answer to {method}: {what}")
        uri = ((asked.get("params") or {}).get("textDocument") or {}).get("uri")
        for what in self.documents.outside(uri, result):
            self.find(by, f"answer to {method}: {what}")

    # The end.

    def exit(self, code):
        expect = 0 if "shutdown" in self.said else 1
        if code != expect:
            self.find("server", f"exit code {code} instead of {expect}")
        for by, other in OTHER.items():
            for key, message in self.open[by].items():
                if by == "client" or not self.said:
                    self.find(other, f"{message['method']} with the id {key} was never answered")
        for key, kind in self.progress.items():
            if kind in ("created", "begin", "report") and self.said:
                self.find("server", f"the progress {key} never ended, last: {kind}")
        self.phase = "over"


def check(lines):
    """The findings of one session, as (who, what)."""
    it = Check()
    for line in lines:
        it.entry(json.loads(line))
    if it.phase != "over":
        it.find("server", "the session has no end")
    return it.findings


def main():
    paths, count = sys.argv[1:], 0
    if not paths:
        sys.exit(__doc__)
    for path in paths:
        with open(path, encoding="utf-8") as session:
            for by, what in check(session):
                count += 1
                print(f"{path}: {by}: {what}")
    print(f"{count} findings in {len(paths)} sessions")
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
