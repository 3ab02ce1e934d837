#!/usr/bin/env python3
"""Naming figures of Rust sources: how many type and function names are a single word, how many types share their name,
how long names and functions are, and which modules of a crate depend on each other in a cycle.

Counts production code: modules reachable from the library and the programs of each package, without `#[cfg(test)]`.
Measures for judgement, not limits: a name is good when a reader understands it, not when it is long.

usage: target/tools/python/bin/python tests/bench/names.py [--edges] [--strict] [FOLDER...]
  FOLDER     other sources to compare with: a folder with a Cargo.toml in it or below
  --edges    the references between the modules of a cycle
  --strict   a module and the modules below it count as separate in cycles
needs tests/tools/python.sh
"""
import argparse
import collections
import math
import os
import pathlib
import re
import statistics
import sys
import tomllib

try:
    import tree_sitter
    import tree_sitter_rust
except ImportError:
    sys.exit("error: no parser for Rust\nHint: run `tests/tools/python.sh`, then start this with the Python it names.")

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
TYPES = {"struct_item", "enum_item", "union_item", "trait_item", "type_item"}
FUNCTIONS = {"function_item", "function_signature_item"}
TEST_ATTRIBUTE = re.compile(r"#!?\[\s*(?:cfg\s*\(\s*(?!not\b).*\btest\b|(?:\w+\s*::\s*)*test\b)", re.S)
PATH_ATTRIBUTE = re.compile(r'#\[\s*path\s*=\s*"([^"]+)"')
NO_SOURCES = {"target", "tests", "benches", "examples", "fixtures", "node_modules"}
PATH_WORDS = {"identifier", "type_identifier", "crate", "self", "super"}


def text(node):
    return node.text.decode()


def words_of_type(name):
    """`HTTPServer2` is two words."""
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+", name)


def words_of_function(name):
    return [word for word in name.removeprefix("r#").split("_") if word]


class Module:
    """One module of a crate: what it declares, what it imports, and the paths it mentions."""

    def __init__(self):
        self.types, self.functions = [], []  # names
        self.lengths = []  # of functions with a body, in lines without attributes
        self.imports = {}  # local name -> path
        self.globs, self.paths = [], []


class Crate:
    """The modules reachable from one root file, by their paths: `("decide", "breaker")`; the root is `()`."""

    def __init__(self, root):
        self.modules = {}
        self.read_file(pathlib.Path(root), (), is_root=True)

    def read_file(self, file, path, is_root=False):
        owns_folder = is_root or file.name == "mod.rs"
        folder = file.parent if owns_folder else file.parent / file.stem
        tree = PARSER.parse(file.read_bytes()).root_node
        if not any(it.type == "inner_attribute_item" and TEST_ATTRIBUTE.match(text(it)) for it in tree.children):
            self.read_module(tree, path, folder, file.parent)

    def read_module(self, node, path, folder, beside):
        module = self.modules.setdefault(path, Module())
        for item, attributes in walk(node):
            if item.type == "mod_item":
                child = (*path, text(item.child_by_field_name("name")))
                body = item.child_by_field_name("body")
                if body:
                    self.read_module(body, child, folder / child[-1], folder / child[-1])
                else:
                    self.read_declared(child, attributes, folder, beside)
            elif item.type == "use_declaration":
                for target, name in use_paths(item.child_by_field_name("argument"), ()):
                    (module.globs if name == "*" else module.paths).append(target)
                    module.imports[name] = target
            elif item.type in TYPES:
                module.types.append(text(item.child_by_field_name("name")))
            elif item.type in FUNCTIONS:
                module.functions.append(text(item.child_by_field_name("name")))
                if item.child_by_field_name("body"):
                    module.lengths.append(item.end_point[0] - item.start_point[0] + 1)
            elif item.type == "path":
                module.paths.append(item.words)

    def read_declared(self, path, attributes, folder, beside):
        named = [found[1] for found in map(PATH_ATTRIBUTE.search, attributes) if found]
        candidates = [beside / it for it in named] or [folder / f"{path[-1]}.rs", folder / path[-1] / "mod.rs"]
        for file in candidates:
            if file.exists():
                self.read_file(file, path)
                return

    def resolve(self, module, path, depth=0):
        """The module that a path leads to, through imports and re-exports; nothing where it leaves the crate."""
        if depth > 10 or not path:
            return None
        first, rest = path[0], path[1:]
        if first == "crate":
            at = ()
        elif first == "self":
            at = module
        elif first == "super":
            at = module[:-1]
        elif (*module, first) in self.modules:
            at = (*module, first)
        elif first in self.modules[module].imports and self.modules[module].imports[first] != path[:1]:
            return self.resolve(module, (*self.modules[module].imports[first], *rest), depth + 1)
        else:
            return self.resolve_in_globs(module, path) if depth == 0 else None
        while rest:
            if rest[0] == "super":
                at = at[:-1]
            elif (*at, rest[0]) in self.modules:
                at = (*at, rest[0])
            else:
                return self.resolve_reexport(at, rest, depth)
            rest = rest[1:]
        return at

    def resolve_reexport(self, at, rest, depth):
        target = self.modules[at].imports.get(rest[0])
        if target and target != rest[:1]:
            return self.resolve(at, (*target, *rest[1:]), depth + 1) or at
        return at

    def resolve_in_globs(self, module, path):
        for glob in self.modules[module].globs:
            source = self.resolve(module, glob, depth=1)
            if source is not None and (*source, path[0]) in self.modules:
                return self.resolve(source, path, depth=1)
        return None

    def references(self):
        """How often one module mentions another: `{(from, to): count}`."""
        found = collections.Counter()
        for name, module in self.modules.items():
            for path in module.paths + module.globs:
                target = self.resolve(name, path)
                if target is not None and target != name:
                    found[name, target] += 1
        return found


class MentionedPath:
    """A path in code, such as `crate::agent::start`; has the place of an item in a walk."""

    type = "path"

    def __init__(self, words):
        self.words = words


def walk(node):
    """The items below a node with their attributes, and the paths that code mentions; modules are not entered, and
    tests are left out."""
    attributes, run, after_colons = [], [], False
    for child in node.children:
        if child.type == "attribute_item":
            attributes.append(text(child))
            continue
        if child.type in ("line_comment", "block_comment"):
            continue
        # Tokens of a macro call are children of one node: `a`, `::`, `b`.
        if child.type == "::":
            after_colons = bool(run)
            continue
        if child.type in PATH_WORDS and after_colons:
            run.append(text(child))
        else:
            if len(run) > 1:
                yield MentionedPath(tuple(run)), []
            run = [text(child)] if child.type in PATH_WORDS else []
        after_colons = False
        if not any(TEST_ATTRIBUTE.match(it) for it in attributes):
            yield from walk_item(child, attributes)
        attributes = []
    if len(run) > 1:
        yield MentionedPath(tuple(run)), []


def walk_item(node, attributes):
    if node.type in ("mod_item", "use_declaration"):
        yield node, attributes
        return
    if node.type in FUNCTIONS or node.type in TYPES and not is_in_impl(node):
        yield node, attributes
    if node.type in ("scoped_identifier", "scoped_type_identifier"):
        words = plain_path(node)
        if words:
            yield MentionedPath(words), []
            return
    yield from walk(node)


def is_in_impl(node):
    """An alias in an `impl` is named by its trait."""
    return node.parent is not None and node.parent.parent is not None and node.parent.parent.type == "impl_item"


def plain_path(node):
    """The words of a path without type arguments; nothing for others, whose parts are walked one by one."""
    if node is None:
        return ()
    if node.type in PATH_WORDS:
        return (text(node),)
    if node.type in ("scoped_identifier", "scoped_type_identifier"):
        before = plain_path(node.child_by_field_name("path"))
        return (*before, text(node.child_by_field_name("name"))) if before else ()
    return ()


def use_paths(node, before):
    """Every path of a `use` with the name that it gets; `*` for all names."""
    if node.type in ("use_list", "scoped_use_list"):
        if node.type == "scoped_use_list":
            before = (*before, *plain_path(node.child_by_field_name("path")))
            node = node.child_by_field_name("list")
        for child in node.named_children:
            if child.type not in ("line_comment", "block_comment"):
                yield from use_paths(child, before)
    elif node.type == "use_as_clause":
        path = (*before, *plain_path(node.child_by_field_name("path")))
        yield path, text(node.child_by_field_name("alias"))
    elif node.type == "use_wildcard":
        yield (*before, *(plain_path(node.named_children[0]) if node.named_children else ())), "*"
    else:
        path = (*before, *plain_path(node))
        if before and path[-1] == "self":
            path = path[:-1]
        if path:
            yield path, path[-1]


def components(edges):
    """Strongly connected components of more than one node, each sorted; Tarjan's algorithm without recursion."""
    graph = collections.defaultdict(set)
    for source, target in edges:
        graph[source].add(target)
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, None)]
        while work:
            node, successors = work.pop()
            if successors is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                successors = iter(sorted(graph.get(node, ())))
            for target in successors:
                if target not in index:
                    work += [(node, successors), (target, None)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                if low[node] == index[node]:
                    component = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    on_stack.difference_update(component)
                    if len(component) > 1:
                        found.append(sorted(component))
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return sorted(found)


def between_siblings(references):
    """References between modules of one parent, each with everything below it: `{parent: {(from, to): count}}`.
    A module and those below it count as one unit, since a parent commonly holds the types that its children share."""
    levels = collections.defaultdict(collections.Counter)
    for (source, target), count in references.items():
        shared = os.path.commonprefix([source, target])
        depth = len(shared)
        if depth < len(source) and depth < len(target):
            levels[shared][source[: depth + 1], target[: depth + 1]] += count
    return levels


def cycles(crate, strict):
    """Components with the references that make them: `[(parent, modules, {(from, to): count})]`."""
    references = crate.references()
    levels = {(): references} if strict else between_siblings(references)
    return [
        (parent, component, {pair: n for pair, n in edges.items() if set(pair) <= set(component)})
        for parent, edges in sorted(levels.items())
        for component in components(edges)
    ]


def packages(folder):
    """Every package in a folder or below: its name and the root files of its library and programs."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(it for it in folders if it not in NO_SOURCES and not it.startswith("."))
        if "Cargo.toml" in files:
            manifest = tomllib.loads(pathlib.Path(at, "Cargo.toml").read_text())
            if "package" in manifest:
                yield manifest["package"]["name"], list(root_files(pathlib.Path(at), manifest))


def root_files(folder, manifest):
    named = [manifest.get("lib", {}), *manifest.get("bin", [])]
    usual = ["src/lib.rs", "src/main.rs", *(str(it.relative_to(folder)) for it in folder.glob("src/bin/*.rs"))]
    paths = dict.fromkeys([*(it["path"] for it in named if "path" in it), *usual])
    return [folder / it for it in paths if (folder / it).exists()]


class Source:
    """The crates of one folder."""

    def __init__(self, name, folder):
        self.name, self.crates = name, {}
        for package, roots in packages(folder):
            for root in roots:
                self.crates[package if root == roots[0] else f"{package} ({root.name})"] = Crate(root)
        if not self.crates:
            sys.exit(f"error: no package in {folder}\nHint: name a folder with a Cargo.toml in it or below.")

    def all(self, what):
        return [it for crate in self.crates.values() for module in crate.modules.values() for it in getattr(module, what)]

    def row(self, strict):
        types, functions, lengths = self.all("types"), self.all("functions"), sorted(self.all("lengths"))
        times = collections.Counter(types)
        modules = sum(len(it.modules) for it in self.crates.values())
        in_cycles = sum(len(found) for crate in self.crates.values() for _, found, _ in cycles(crate, strict))
        return [
            self.name,
            len(types),
            percent(sum(len(words_of_type(it)) <= 1 for it in types), len(types)),
            percent(sum(times[it] > 1 for it in types), len(types)),
            median(map(len, types)),
            len(functions),
            percent(sum(len(words_of_function(it)) <= 1 for it in functions), len(functions)),
            median(map(len, functions)),
            median(lengths),
            lengths[math.ceil(0.9 * len(lengths)) - 1] if lengths else 0,
            max(lengths, default=0),
            f"{in_cycles} of {modules}",
        ]


HEADER = [
    "source", "types", "one word", "shared name", "median", "functions", "one word", "median",
    "lines: median", "p90", "max", "modules in cycles",
]


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def median(values):
    return f"{statistics.median(list(values) or [0]):.0f}"


def print_table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [str(it).ljust(width) if i == 0 else str(it).rjust(width) for i, (it, width) in enumerate(zip(row, widths))]
        print("| " + " | ".join(cells) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def print_repeated(what, names):
    repeated = [f"{name} {count}" for name, count in collections.Counter(names).most_common(20) if count > 1]
    print(f"most repeated {what}: {', '.join(repeated) or 'none'}")


def print_cycles(source, strict, with_edges):
    for name, crate in source.crates.items():
        found = cycles(crate, strict)
        print(f"\n{name}: {len(crate.modules)} modules, {len(found) or 'no'} cycle{'s' if len(found) != 1 else ''}")
        for parent, modules, edges in found:
            names = ["::".join(it) or "(root)" for it in modules]
            print(f"  in {'::'.join(parent) or 'the root'}, {len(modules)} modules: {', '.join(names)}")
            for (one, other), count in sorted(edges.items()) if with_edges else ():
                print(f"    {'::'.join(one) or '(root)'} -> {'::'.join(other) or '(root)'}: {count}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_args()
    own = Source("loopkeeper", pathlib.Path(__file__).resolve().parents[2])
    others = [Source(os.path.basename(os.path.normpath(it)), it) for it in args.folders]
    print_table([HEADER, *(it.row(args.strict) for it in [own, *others])])
    print()
    print_repeated("type names", own.all("types"))
    print_repeated("function names", own.all("functions"))
    print_cycles(own, args.strict, args.edges)


if __name__ == "__main__":
    main()
