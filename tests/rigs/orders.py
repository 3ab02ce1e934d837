# Commands that only the user may give, by every way that leads to loopkeeper. Prints one line for each: its name and
# its result. usage: orders.py socket SOCKET | hook SOCKET | lsp PROGRAM TASK LOOP | terminal PROGRAM ARGUMENT…
import json
import os
import pty
import socket
import subprocess
import sys

ORDERS = [
    {"do": "accept"},
    {"do": "steer", "text": "well done"},
    {"do": "answer", "text": "yes"},
    {"do": "reset", "what": "breaker"},
    {"do": "reset", "what": "session"},
    {"do": "resume"},
    {"do": "resume", "what": "anyway"},
    {"do": "saved", "what": "PROMPT.md", "text": "0" * 64},
    {"do": "rollback", "iteration": 0},
    {"do": "undo-rollback"},
    {"do": "authorize", "what": "trust"},
    {"do": "pause"},
    {"do": "stop"},
    {"do": "stop", "now": True},
]


def ask(path, request):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    lines = peer.makefile("rw")
    lines.readline()
    lines.write(json.dumps(request) + "\n")
    lines.flush()
    return json.loads(lines.readline())


def by_socket(path):
    for number, order in enumerate(ORDERS):
        answer = ask(path, {"id": f"{os.getpid()}-{number}", **order})
        print(order["do"], "done" if answer["ok"] else answer["error"]["code"], flush=True)


class Server:
    def __init__(self, program, root):
        self.process = subprocess.Popen(
            [program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.count = 0
        folder = {"uri": "file://" + root, "name": "work"}
        self.call("initialize", {"processId": None, "rootUri": folder["uri"], "workspaceFolders": [folder], "capabilities": {}})
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    def send(self, message):
        text = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def call(self, method, params):
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.count and "method" not in message:
                return message

    def command(self, name, argument):
        params = {"command": "loopkeeper.server." + name, "arguments": [argument]}
        answer = self.call("workspace/executeCommand", params)
        print(name, answer["error"]["message"] if "error" in answer else "done", flush=True)


def by_server(program, task, loop_id):
    server = Server(program, os.path.dirname(task))
    uri = "file://" + task
    page = server.call("loopkeeper/trustPage", {"task": uri})["result"]
    server.command("acceptWeakening", {"loopId": loop_id})
    server.command("steer", {"loopId": loop_id, "text": "well done"})
    server.command("pause", {"loopId": loop_id})
    server.command("stop", {"loopId": loop_id, "now": False})
    server.command("skip", {"task": uri, "item": "one"})
    server.command("trust", {"task": uri, "hash": page["hash"]})
    server.command("untrust", {"task": uri})
    server.process.kill()


def on_a_terminal(command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    said = b""
    try:
        os.write(terminal, b"y\n" * 3)
        while (more := os.read(terminal, 4096)):
            said += more
    except OSError:
        pass
    print(said.decode(errors="replace").replace("\r", ""), flush=True)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


match sys.argv[1]:
    case "socket":
        by_socket(sys.argv[2])
    case "hook":
        print(ask(sys.argv[2], {"id": "h", "do": "hook", "hook": "end", "session": "s", "own": True}))
    case "lsp":
        by_server(*sys.argv[2:5])
    case "terminal":
        on_a_terminal(sys.argv[2:])
