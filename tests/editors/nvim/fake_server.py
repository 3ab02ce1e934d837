#!/usr/bin/env python3
"""A language server that does what a test tells it, for what the real one cannot be brought to do at will.

It sends whatever is put into FAKE_SERVER/send-<n>.json (n = 1, 2, …) and answers requests from FAKE_SERVER/reply.json,
{"<method or command>": {"result": …} or {"error": …}}, else with null. What it receives goes to FAKE_SERVER/received. It announces FAKE_SERVER_LANGUAGE, if that is set.
"""
import json
import os
import sys
import threading
import time

folder = os.environ["FAKE_SERVER"]
lock = threading.Lock()
capabilities = {
    "textDocumentSync": {"openClose": True, "change": 1, "save": True},
    "codeLensProvider": {},
    "executeCommandProvider": {"commands": []},
    "experimental": {"loopkeeper": {"version": 1}},
}
language = os.environ.get("FAKE_SERVER_LANGUAGE")
if language:
    capabilities["experimental"]["loopkeeper"]["language"] = language


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    with lock:
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()


def send_what_comes():
    number = 1
    while True:
        path = f"{folder}/send-{number}.json"
        if os.path.exists(path):
            with open(path) as file:
                send(json.load(file))
            number += 1
        else:
            time.sleep(0.01)


def read():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        send({"id": message["id"], "result": {"capabilities": capabilities}})
        return
    try:
        with open(f"{folder}/reply.json") as file:
            replies = json.load(file)
    except FileNotFoundError:
        replies = {}
    reply = replies.get(params.get("command", method)) or {"result": None}
    send({"id": message["id"], **reply})


while True:
    message = read()
    with open(f"{folder}/received", "a") as file:
        file.write(json.dumps(message) + "\n")
    if message.get("method") == "initialized":
        threading.Thread(target=send_what_comes, daemon=True).start()
    if message.get("method") == "exit":
        sys.exit(0)
    if "method" in message and "id" in message:
        answer(message)
