#!/usr/bin/env python3
"""Stands between an editor and its language server, passes every byte on unchanged, and writes down the session.

usage: record.py SESSION SERVER [ARGUMENT…]

A session is a JSON value per line, in the order in which things were seen: {"by": "client"|"server", "message": …},
{"by": …, "broken": why} for bytes that are no frame, and at last {"exit": code}. `check.py` judges it.
"""
import json
import os
import subprocess
import sys
import threading


class Session:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")
        self.lock = threading.Lock()

    def note(self, **entry):
        with self.lock:
            self.file.write(json.dumps(entry) + "\n")
            self.file.flush()


class Frames:
    """Cuts a copy of the passing bytes into messages; strict, since it is there to find fault."""

    def __init__(self, session, by):
        self.session, self.by, self.bytes, self.is_lost = session, by, b"", False

    def take(self, chunk):
        self.bytes += chunk
        while not self.is_lost and self.take_one():
            pass

    def take_one(self):
        head, found, rest = self.bytes.partition(b"\r\n\r\n")
        if not found:
            return False
        length = None
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b": ")
            if name == b"Content-Length" and value.isdigit():
                length = int(value)
            elif name != b"Content-Type":
                return self.lose(f"header {line[:60]!r}")
        if length is None:
            return self.lose("no Content-Length")
        if len(rest) < length:
            return False
        body, self.bytes = rest[:length], rest[length:]
        try:
            self.session.note(by=self.by, message=json.loads(body.decode("utf-8")))
        except ValueError as error:
            self.session.note(by=self.by, broken=f"body: {error}")
        return True

    def lose(self, why):
        self.is_lost = True
        self.session.note(by=self.by, broken=why)
        return False

    def end(self):
        if self.bytes and not self.is_lost:
            self.session.note(by=self.by, broken="half a frame at the end")


def pass_on(source, target, frames):
    while chunk := os.read(source, 1 << 16):
        # Recorded first, so that it precedes the other side's reaction.
        frames.take(chunk)
        try:
            while chunk:
                chunk = chunk[os.write(target, chunk):]
        except OSError:
            break
    frames.end()


def main():
    session = Session(sys.argv[1])
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def from_client():
        pass_on(0, server.stdin.fileno(), Frames(session, "client"))
        server.stdin.close()

    # The editor may keep its end open after `exit`.
    threading.Thread(target=from_client, daemon=True).start()
    pass_on(server.stdout.fileno(), 1, Frames(session, "server"))
    code = server.wait()
    session.note(exit=code)
    os._exit(code if code >= 0 else 128 - code)


main()
