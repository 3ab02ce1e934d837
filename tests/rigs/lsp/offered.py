"""What one side says against what the other side announced that it understands."""

# Requests of the server that need a client capability.
NEEDS = {
    "window/workDoneProgress/create": "window.workDoneProgress",
    "window/showDocument": "window.showDocument.support",
    "window/showMessageRequest": "window.showMessage",
    "workspace/applyEdit": "workspace.applyEdit",
    "workspace/configuration": "workspace.configuration",
    "workspace/workspaceFolders": "workspace.workspaceFolders",
    "workspace/codeLens/refresh": "workspace.codeLens.refreshSupport",
    "workspace/inlayHint/refresh": "workspace.inlayHint.refreshSupport",
    "workspace/semanticTokens/refresh": "workspace.semanticTokens.refreshSupport",
    "workspace/inlineValue/refresh": "workspace.inlineValue.refreshSupport",
    "workspace/diagnostic/refresh": "workspace.diagnostics.refreshSupport",
    "workspace/foldingRange/refresh": "workspace.foldingRange.refreshSupport",
}
# Parts of a diagnostic that need one.
OF_DIAGNOSTICS = {
    "relatedInformation": "relatedInformation",
    "tags": "tagSupport",
    "codeDescription": "codeDescriptionSupport",
    "data": "dataSupport",
}
# Requests of the client that need a server capability.
PROVIDED = {
    "textDocument/hover": "hoverProvider",
    "textDocument/codeLens": "codeLensProvider",
    "codeLens/resolve": "codeLensProvider.resolveProvider",
    "textDocument/codeAction": "codeActionProvider",
    "codeAction/resolve": "codeActionProvider.resolveProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "textDocument/completion": "completionProvider",
    "completionItem/resolve": "completionProvider.resolveProvider",
    "textDocument/documentLink": "documentLinkProvider",
    "textDocument/inlayHint": "inlayHintProvider",
    "textDocument/definition": "definitionProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/formatting": "documentFormattingProvider",
    "textDocument/foldingRange": "foldingRangeProvider",
    "textDocument/semanticTokens/full": "semanticTokensProvider.full",
    "textDocument/diagnostic": "diagnosticProvider",
    "workspace/symbol": "workspaceSymbolProvider",
    "workspace/executeCommand": "executeCommandProvider",
    "workspace/didChangeWorkspaceFolders": "workspace.workspaceFolders.changeNotifications",
}


def at(capabilities, path):
    for step in path.split("."):
        capabilities = capabilities.get(step) if isinstance(capabilities, dict) else None
    return capabilities


def has(capabilities, path):
    """An empty object is a yes, as in `"hoverProvider": {}`."""
    return at(capabilities, path) not in (None, False)


def agreed(client, server):
    """Findings about what the server announces."""
    encoding = server.get("positionEncoding", "utf-16")
    if encoding not in (at(client, "general.positionEncodings") or []) + ["utf-16"]:
        yield f"the position encoding {encoding} was not offered"


def to_client(message, client):
    method, params = message["method"], message.get("params")
    if method in NEEDS and not has(client, NEEDS[method]):
        yield f"{method} to a client without {NEEDS[method]}"
    if method == "textDocument/publishDiagnostics":
        # Every client accepts diagnostics; its capabilities list the supported parts of them.
        yield from diagnostics(params, at(client, "textDocument.publishDiagnostics") or {})
    elif method == "client/registerCapability":
        for one in params["registrations"]:
            if not has(client, one["method"].replace("/", ".") + ".dynamicRegistration"):
                yield f"registers {one['method']} with a client that has no dynamic registration of it"
    elif method == "workspace/applyEdit":
        yield from edit(params["edit"], client)


def diagnostics(params, client):
    if "version" in params and not has(client, "versionSupport"):
        yield "a version of diagnostics to a client without versionSupport"
    for one in params["diagnostics"]:
        for part, word in OF_DIAGNOSTICS.items():
            if part in one and not has(client, word):
                yield f"{part} of a diagnostic to a client without {word}"
        for tag in one.get("tags", []):
            if tag not in (at(client, "tagSupport.valueSet") or []):
                yield f"the diagnostic tag {tag} to a client that does not know it"


def to_server(message, server):
    method, params = message["method"], message.get("params")
    if method in PROVIDED and not has(server, PROVIDED[method]):
        yield f"{method} to a server without {PROVIDED[method]}"
    if method == "workspace/executeCommand":
        if params["command"] not in (at(server, "executeCommandProvider.commands") or []):
            yield f"the command {params['command']} was not announced"
    elif method in ("textDocument/didOpen", "textDocument/didClose"):
        if not has(server, "textDocumentSync.openClose"):
            yield f"{method} to a server that does not want it"
    elif method == "textDocument/didChange" and at(server, "textDocumentSync.change") == 1:
        if any("range" in it for it in params["contentChanges"]):
            yield "a change of a range to a server that wants whole texts"


def results(asked, result, client, server):
    """Findings about what the server answered."""
    method = asked["method"]
    if method == "textDocument/hover" and result:
        yield from markup(result["contents"], at(client, "textDocument.hover.contentFormat"))
    elif method == "textDocument/codeLens":
        yield from (it for lens in result or [] for it in command(lens.get("command"), server))
    elif method == "textDocument/codeAction":
        yield from (it for one in result or [] for it in action(one, client, server))
    elif method == "textDocument/documentSymbol":
        nested = has(client, "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport")
        if any("selectionRange" in it for it in result or []) and not nested:
            yield "nested symbols to a client that cannot nest"
    elif method == "textDocument/completion":
        items = result["items"] if isinstance(result, dict) else result
        item = at(client, "textDocument.completion.completionItem") or {}
        yield from (it for one in items or [] for it in completion(one, item))


def markup(contents, formats):
    if isinstance(contents, dict) and "kind" in contents:
        if contents["kind"] not in (formats or ["plaintext"]):
            yield f"{contents['kind']} to a client that wants {formats}"


def action(one, client, server):
    if isinstance(one.get("command"), str):
        yield from command(one, server)
        return
    it = at(client, "textDocument.codeAction") or {}
    if not has(it, "codeActionLiteralSupport"):
        yield "a code action to a client that knows commands only"
    for part in ("isPreferred", "disabled", "data"):
        if part in one and not has(it, f"{part}Support"):
            yield f"{part} of a code action to a client without {part}Support"
    yield from command(one.get("command"), server)
    yield from edit(one.get("edit") or {}, client)


def command(one, server):
    if one and one["command"] not in (at(server, "executeCommandProvider.commands") or [""]):
        # An empty name is a lens that only displays a text.
        if one["command"]:
            yield f"offers the command {one['command']}, which it did not announce"


def completion(one, client):
    if one.get("insertTextFormat") == 2 and not has(client, "snippetSupport"):
        yield "a snippet to a client without snippetSupport"
    if "labelDetails" in one and not has(client, "labelDetailsSupport"):
        yield "labelDetails to a client without labelDetailsSupport"
    if isinstance(one.get("documentation"), dict):
        yield from markup(one["documentation"], client.get("documentationFormat"))


def edit(one, client):
    for change in one.get("documentChanges", []):
        if not has(client, "workspace.workspaceEdit.documentChanges"):
            yield "documentChanges to a client without them"
        kind = change.get("kind")
        if kind and kind not in (at(client, "workspace.workspaceEdit.resourceOperations") or []):
            yield f"the resource operation {kind} to a client without it"
