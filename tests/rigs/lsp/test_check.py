"""The control of check.py: a session as it should be, and one misdeed at a time that it must find."""
import copy
import json
import unittest

import check

URI = "file:///w/PROMPT.md"
CLIENT = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "window": {"workDoneProgress": True, "showMessage": {}, "showDocument": {"support": True}},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "tagSupport": {"valueSet": [1]}},
        "hover": {"contentFormat": ["plaintext"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
    },
    "experimental": {"loopkeeper": {"version": 1}},
}
SERVER = {
    "positionEncoding": "utf-8",
    "textDocumentSync": {"openClose": True, "change": 1},
    "hoverProvider": True,
    "codeLensProvider": {},
    "codeActionProvider": True,
    "documentSymbolProvider": True,
    "completionProvider": {},
    "executeCommandProvider": {"commands": ["a.b"]},
    "experimental": {"loopkeeper": {"version": 1}},
}
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
DOCUMENT = {"textDocument": {"uri": URI}}


def call(by, method, params=None, id=None):
    message = {"jsonrpc": "2.0", "method": method}
    if id is not None:
        message["id"] = id
    if params is not None:
        message["params"] = params
    return {"by": by, "message": message}


def answer(by, id, result):
    return {"by": by, "message": {"jsonrpc": "2.0", "id": id, "result": result}}


def diagnostics(**more):
    one = {"range": RANGE, "message": "m", **more}
    return call("server", "textDocument/publishDiagnostics", {"uri": URI, "diagnostics": [one]})


def progress(kind, token="t"):
    value = {"kind": kind, "title": "Ralph"} if kind == "begin" else {"kind": kind}
    return call("server", "$/progress", {"token": token, "value": value})


GREETING = [
    call("client", "initialize", {"processId": 1, "rootUri": None, "capabilities": CLIENT}, id=1),
    answer("server", 1, {"capabilities": SERVER}),
    call("client", "initialized", {}),
    call("client", "textDocument/didOpen", {
        "textDocument": {"uri": URI, "languageId": "markdown", "version": 1, "text": "# ä\n"},
    }),
]
FAREWELL = [call("client", "shutdown", id=99), answer("server", 99, None), call("client", "exit"), {"exit": 0}]
PROGRESS = [
    call("server", "window/workDoneProgress/create", {"token": "t"}, id=1),
    answer("client", 1, None),
    progress("begin"),
    progress("report"),
    progress("end"),
]
GOOD = [
    *PROGRESS,
    diagnostics(severity=1, source="ralph", code="failing", tags=[1]),
    call("client", "textDocument/hover", {**DOCUMENT, "position": RANGE["start"]}, id=2),
    answer("server", 2, {"contents": {"kind": "plaintext", "value": "h"}, "range": RANGE}),
    call("client", "textDocument/codeLens", DOCUMENT, id="x"),
    answer("server", "x", [{"range": RANGE, "command": {"title": "t", "command": "a.b", "arguments": [{}]}}]),
    call("server", "loopkeeper/status", {"anything": 1}),
]


def findings(middle, greeting=None, farewell=None):
    session = (GREETING if greeting is None else greeting) + middle + (FAREWELL if farewell is None else farewell)
    return check.check(json.dumps(it) for it in session)


def greeting(client=None, server=None):
    entries = copy.deepcopy(GREETING)
    for entry, field, change in ((entries[0], "params", client), (entries[1], "result", server)):
        if change:
            change(entry["message"][field]["capabilities"])
    return entries


def asked(method, params, result, **more):
    return findings([call("client", method, params, id=5), answer("server", 5, result)], **more)


class Control(unittest.TestCase):
    def found(self, what, them):
        self.assertTrue(any(what in it for _, it in them), f"no {what!r} in {them}")

    def test_a_good_session_has_no_findings(self):
        self.assertEqual(findings([]), [])
        self.assertEqual(findings(GOOD), [])

    def test_types(self):
        self.found("not a", findings([diagnostics(severity="bad")]))
        self.found("understood as", findings([diagnostics(message=7)]))
        self.found("is not declared", findings([diagnostics(colour="red")]))
        self.found("null where", findings([diagnostics(source=None)]))
        self.found("not a", asked("textDocument/hover", {**DOCUMENT, "position": RANGE["start"]}, {"range": RANGE}))
        self.found("not a", asked("textDocument/codeLens", DOCUMENT, [{}]))
        wrong = {"by": "server", "message": {"jsonrpc": "2.0", "id": 5, "error": {"code": "x", "message": "m"}}}
        self.found("answer to", findings([call("client", "textDocument/codeLens", DOCUMENT, id=5), wrong]))
        self.found("progress of no kind", findings([call("server", "$/progress", {"token": "t", "value": {}})]))
        self.found("no frame", findings([{"by": "server", "broken": "x"}]))
        self.found("not a message", findings([{"by": "server", "message": []}]))

    def test_directions_and_ids(self):
        self.found("other way", findings([call("server", "textDocument/didOpen", {})]))
        self.found("not in the specification", findings([call("server", "no/such", {})]))
        self.found("has an id", findings([call("server", "window/logMessage", {"type": 3, "message": "m"}, id=7)]))
        self.found("has no id", findings([call("server", "window/workDoneProgress/create", {"token": "t"})]))
        self.found("which nobody asked", findings([answer("server", 7, None)]))
        self.found("which nobody asked", findings([*GOOD, answer("server", 2, None)]))
        self.found("uses the id", findings([*PROGRESS[:2], *PROGRESS[:2]]))
        self.found("never answered", findings([call("client", "textDocument/codeLens", DOCUMENT, id=5)]))
        self.found("never answered", findings([PROGRESS[0]], farewell=[{"exit": 1}]))

    def test_order(self):
        self.found("before the answer", findings([], greeting=[GREETING[0], diagnostics(), *GREETING[1:]]))
        self.found("before initialize", findings([], greeting=[GREETING[2], *GREETING]))
        late = [*FAREWELL[:2], call("server", "window/showDocument", {"uri": URI}, id=1), *FAREWELL[2:]]
        self.found("after the answer to shutdown", findings([], farewell=late))
        self.found("after shutdown", findings([], farewell=[*FAREWELL[:2], GREETING[2], *FAREWELL[2:]]))
        self.found("exit code", findings([], farewell=[*FAREWELL[:3], {"exit": 1}]))
        self.found("exit code", findings([], farewell=[{"exit": 0}]))
        self.found("no end", findings([], farewell=FAREWELL[:3]))

    def test_progress(self):
        self.found("after None", findings([progress("begin")]))
        self.found("never ended", findings(PROGRESS[:3]))
        self.found("never ended", findings(PROGRESS[:2]))
        self.found("report of", findings([*PROGRESS, progress("report")]))
        self.found("begin of", findings([*PROGRESS[:3], progress("begin"), progress("end")]))
        self.found("is in use", findings([*PROGRESS[:3], call("server", PROGRESS[0]["message"]["method"], {"token": "t"}, id=8)]))

    def test_capabilities(self):
        def without(*path):
            def change(capabilities):
                for step in path[:-1]:
                    capabilities = capabilities[step]
                capabilities.pop(path[-1], None)
            return change

        client = lambda *path: greeting(client=without(*path))
        server = lambda *path: greeting(server=without(*path))
        self.found("without window.work", findings(PROGRESS, client("window", "workDoneProgress")))
        versioned = diagnostics()
        versioned["message"]["params"]["version"] = 1
        self.found("without versionSupport", findings([versioned]))
        tags = client("textDocument", "publishDiagnostics", "tagSupport")
        self.found("without tagSupport", findings([diagnostics(tags=[1])], tags))
        self.found("does not know", findings([diagnostics(tags=[2])]))
        self.found("without dataSupport", findings([diagnostics(data={})]))
        self.found("did not ask", findings([GOOD[-1]], client("experimental")))
        encodings = client("general", "positionEncodings")
        self.found("was not offered", findings([], encodings))
        hover = {"contents": {"kind": "markdown", "value": "h"}}
        position = {**DOCUMENT, "position": RANGE["start"]}
        self.found("markdown to a client", asked("textDocument/hover", position, hover))
        self.found("without hoverProvider", asked("textDocument/hover", position, None, greeting=server("hoverProvider")))
        self.found("not announced", asked("workspace/executeCommand", {"command": "c", "arguments": []}, None))
        lens = [{"range": RANGE, "command": {"title": "t", "command": "c"}}]
        self.found("did not announce", asked("textDocument/codeLens", DOCUMENT, lens))
        context = {**DOCUMENT, "range": RANGE, "context": {"diagnostics": []}}
        action = [{"title": "t", "isPreferred": True, "edit": {"documentChanges": []}}]
        self.found("isPreferredSupport", asked("textDocument/codeAction", context, action))
        created = [{"title": "t", "edit": {"documentChanges": [{"kind": "create", "uri": URI}]}}]
        self.found("resource operation", asked("textDocument/codeAction", context, created))
        literal = client("textDocument", "codeAction")
        self.found("knows commands only", asked("textDocument/codeAction", context, action, greeting=literal))
        symbol = [{"name": "n", "kind": 15, "range": RANGE, "selectionRange": RANGE}]
        self.found("cannot nest", asked("textDocument/documentSymbol", DOCUMENT, symbol))
        item = [{"label": "l", "insertTextFormat": 2}]
        self.found("snippet", asked("textDocument/completion", position, item))
        watch = {"registrations": [{"id": "1", "method": "workspace/didChangeWatchedFiles"}]}
        self.found("no dynamic registration", findings([call("server", "client/registerCapability", watch, id=3), answer("client", 3, None)]))

    def test_shapes(self):
        reversed_range = {"start": RANGE["end"], "end": RANGE["start"]}
        self.found("reversed", findings([diagnostics(range=reversed_range)]))
        # Three columns of UTF-8 are "# ä" without its last byte; five are beyond the line.
        beyond = {"start": RANGE["start"], "end": {"line": 0, "character": 5}}
        self.found("outside", findings([diagnostics(range=beyond)]))
        self.found("outside", findings([diagnostics(range={"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 0}})]))
        self.found("cannot be shown", findings([diagnostics(message="a\x1b[31m")]))
        self.found("cannot be shown", findings([diagnostics(message="a\u202eb")]))
        self.found("again", findings([diagnostics(), diagnostics()]))


unittest.main()
