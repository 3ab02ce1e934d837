"""What holds for values anywhere in a message: ranges the right way round and inside of their document, text that
can be shown."""
import re

# Control characters except tab and line ends, and characters that change the direction of text.
HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# The user's own texts, to be returned unchanged.
VERBATIM = {"newText", "text", "uri", "targetUri"}


def of(message):
    """Findings about any value of a message."""
    return walk(message, "")


def walk(value, path):
    if isinstance(value, dict):
        if is_range(value) and place(value["end"]) < place(value["start"]):
            yield f"a reversed range at {path}"
        for key, inner in value.items():
            if key not in VERBATIM:
                yield from walk(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, f"{path}[{index}]")
    elif isinstance(value, str) and HIDDEN.search(value):
        yield f"characters that cannot be shown at {path}: {value!r:.60}"


def is_range(value):
    return all(isinstance(value.get(it), dict) and "line" in value[it] for it in ("start", "end"))


def place(position):
    return position["line"], position["character"]


class Documents:
    """The open documents, as the client told them."""

    def __init__(self):
        self.open = {}
        self.encoding = "utf-16"

    def follow(self, message):
        method, params = message["method"], message.get("params")
        if method == "textDocument/didOpen":
            self.open[params["textDocument"]["uri"]] = [params["textDocument"]["text"]]
        elif method == "textDocument/didChange":
            # The server's next message may still refer to the previous text.
            texts = self.open.get(params["textDocument"]["uri"], [])
            texts.extend(it["text"] for it in params["contentChanges"] if "range" not in it)
        elif method == "textDocument/didClose":
            self.open.pop(params["textDocument"]["uri"], None)

    def outside(self, uri, value):
        """Ranges that are in no text that this document ever had."""
        texts = self.open.get(uri)
        if not texts:
            return
        for one in ranges(value):
            if not any(self.is_inside(text, one) for text in texts):
                yield f"the range {one} is outside of {uri}"

    def is_inside(self, text, one):
        return all(self.is_place(text, one[end]) for end in ("start", "end"))

    def is_place(self, text, position):
        lines = re.split("\r\n|\n|\r", text)
        if position["line"] >= len(lines):
            return False
        line = lines[position["line"]]
        length = len(line.encode("utf-8")) if self.encoding == "utf-8" else len(line.encode("utf-16-le")) // 2
        return position["character"] <= length


def ranges(value):
    """Ranges of the document itself, not of places elsewhere."""
    if isinstance(value, dict):
        if is_range(value):
            yield value
        for key, inner in value.items():
            if key not in ("location", "relatedInformation", "data", "arguments"):
                yield from ranges(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from ranges(inner)
