"""One message against the types of the specification: wrong types, properties that nobody declared, nulls where
nothing is meant. Knows nothing of the session around it."""
import enum

import cattrs
from lsprotocol import converters, types

CONVERTER = converters.get_converter()
PROGRESS = {
    "begin": types.WorkDoneProgressBegin,
    "report": types.WorkDoneProgressReport,
    "end": types.WorkDoneProgressEnd,
}


def of_call(message):
    """Findings about a request or notification of a known method."""
    request, _, _, _ = types.METHOD_TO_TYPES[message["method"]]
    found = of(message, request)
    if message["method"] == "$/progress" and not found:
        value = message["params"]["value"]
        kind = PROGRESS.get(value.get("kind")) if isinstance(value, dict) else None
        found = of(value, kind) if kind else [f"progress of no kind: {value!r}"]
    return found


def of_result(message, method):
    _, response, _, _ = types.METHOD_TO_TYPES[method]
    found = of(message, response)
    if method == "textDocument/codeAction" and isinstance(message.get("result"), list):
        # The kind of an action depends on the type of its `command`, which the types do not check.
        kinds = [types.Command if isinstance(it.get("command"), str) else types.CodeAction for it in message["result"]]
        found = [what for it, kind in zip(message["result"], kinds) for what in of(it, kind)]
    return found


def of_error(message):
    return of(message, types.ResponseErrorMessage)


def of(value, kind):
    try:
        typed = CONVERTER.structure(value, kind)
    except Exception as error:  # cattrs and its hooks raise whatever they run into
        return [f"not a {kind.__name__}: {'; '.join(cattrs.transform_error(error))}"]
    # cattrs ignores unknown fields and turns 7 into "7": only the round trip shows it.
    return list(differences(value, CONVERTER.unstructure(typed), kind.__name__))


def differences(said, meant, path):
    meant = meant.value if isinstance(meant, enum.Enum) else meant
    if isinstance(said, dict) and isinstance(meant, dict):
        for key, value in said.items():
            if key in meant:
                yield from differences(value, meant[key], f"{path}.{key}")
            elif value is None:
                yield f"{path}.{key} is null where it may only be absent"
            else:
                yield f"{path}.{key} is not declared"
        # `kind` and the like have one value and are declared as such.
        for key in meant.keys() - said.keys():
            if meant[key] is not None:
                yield f"{path}.{key} is missing"
    elif isinstance(said, list) and isinstance(meant, (list, tuple)):
        for index, (one, other) in enumerate(zip(said, meant)):
            yield from differences(one, other, f"{path}[{index}]")
        if len(said) != len(meant):
            yield f"{path} has {len(said)} elements, {len(meant)} are understood"
    elif type(said) is not type(meant) or said != meant:
        yield f"{path} is {said!r}, understood as {meant!r}"
