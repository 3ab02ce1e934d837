//! One table per language: what is mutated, and comments and texts that are not.

use super::check;

#[test]
fn c_and_cpp() {
    check(
        "a.c",
        "#define N 3\n#define ADD(a, b) \\\n    a + b\nint *p = a * b;\nchar * q = n;\n",
        &["int *p = a / b;"],
    );
    check(
        "a.c",
        "{\n    if (is_open(f)) {\n        total += n;\n        count(f->items, 2);\n        free(p);\n    }\n}\n",
        &["if (!(is_open(f))) {", ";", "total -= n;", ";", "count(f->items, 3);"],
    );
    check(
        "a.c",
        "int f(void) {\n    size_t * p;\n    return a <= b; /* a < b\n a + b */\n}\n",
        &["return a > b; /* a < b"],
    );
    check(
        "a.c",
        "s = \"a < b\\\" + 1\"; c = '\"'; x = a - b;\n",
        &["s = \"a < b\\\" + 1\"; c = '\"'; x = a + b;"],
    );
    check(
        "a.cpp",
        "auto s = R\"x(a \"b\" == c)x\"; std::cout << (a == b);\n",
        &["auto s = R\"x(a \"b\" == c)x\"; std::cout << (a != b);"],
    );
    check(
        "a.cpp",
        "bool operator==(const A& a) const;\ntemplate <typename T>\nstd::vector<int> v;\nclass A : B {\n",
        &[],
    );
}

#[test]
fn java_and_csharp() {
    check(
        "A.java",
        "  List<String> a = b; // x < y\n  if (a.size() > 2) run();\n",
        &["if (a.size() <= 2) run();", "if (a.size() > 3) run();"],
    );
    check(
        "A.java",
        "@Test(timeout = 100)\nimport a.b;\nString s = \"\"\"\n    a \"b\" == c\n    \"\"\" + d;\n",
        &[],
    );
    check("A.java", "{\n  items.add(x);\n  if (ready) {\n", &[";", "if (!(ready)) {"]);
    check(
        "A.cs",
        "var s = @\"a \"\"b\"\" == \\\"; var t = a == b;\n",
        &["var s = @\"a \"\"b\"\" == \\\"; var t = a != b;"],
    );
    check(
        "A.cs",
        "var s = $\"{(a ? \"x == y\" : \"\")} == b\"; x = a && b;\n",
        &["var s = $\"{(a ? \"x == y\" : \"\")} == b\"; x = a || b;"],
    );
    check("A.cs", "[Fact(Skip = true)]\nusing System;\nvar s = \"\"\"\n  a == \"b\"\n  \"\"\";\n", &[]);
    check("Form.Designer.cs", "var x = a == b;\n", &[]);
}

#[test]
fn kotlin_scala_and_swift() {
    check("A.kt", "val s = \"${if (a == b) \"x\" else \"y\"} && z\"\n", &[]);
    check("A.kt", "/* a /* b */ x == y */ val x = a && !b\n", &["/* a /* b */ x == y */ val x = a || !b"]);
    check("A.kt", "val s = \"\"\"\n  a == \"b\" ${'$'}\n\"\"\"\nif (ready) {\n", &["if (!(ready)) {"]);
    check(
        "A.scala",
        "if (ready) 1 else f(xs.map(x => x))\n",
        &["if (!(ready)) 1 else f(xs.map(x => x))", "if (ready) 2 else f(xs.map(x => x))"],
    );
    check("A.scala", "for (x <- xs) yield x // a == b\ndef f[A <: B](a: A): Int\n", &[]);
    check("A.swift", "let s = \"\\(a == \"b\" ? 1 : 2) && c\"; let t = #\"a \" == b\"#\n", &[]);
    check(
        "A.swift",
        "if isOpen {\nif let x = y {\nfor i in 0..<n {\nx = a ?? b\n",
        &["if !(isOpen) {", "for i in 1..<n {"],
    );
    check("A.swift", "#if os(Linux)\n/* a == b */\nlet ok = a != b\n", &["let ok = a == b"]);
    check(
        "a.dart",
        "var s = '${a == 'b' ? 1 : 2}'; var x = a == b;\n",
        &["var s = '${a == 'b' ? 1 : 2}'; var x = a != b;"],
    );
}

#[test]
fn ruby_and_elixir() {
    check("a.rb", "x = a == b # 1\n", &["x = a != b # 1"]);
    check(
        "a.rb",
        "if ready?\nunless list.empty? then\nelsif x > 3\n",
        &["if !(ready?)", "unless !(list.empty?) then", "elsif x <= 3", "elsif x > 4"],
    );
    check(
        "a.rb",
        "s = \"a #{b == \"c\" ? 1 : 2} == d\"\nt = %w[a == b]\nputs %q(a && b)\nu = /a == b/\n",
        &[],
    );
    check(
        "a.rb",
        "=begin\na == b\n=end\nx = <<~TEXT + <<-'OTHER'\n  a == b\n  TEXT\n  c && d\nOTHER\ny = a && b\n__END__\na == b\n",
        &["y = a || b"],
    );
    check("a.rb", "x = n % 2\nclass A < B\nlist << 1\n", &["x = n * 2", "x = n % 3", "list << 2"]);
    check(
        "a.ex",
        "@doc \"\"\"\na == b\n\"\"\"\nx = ~r/a == b/\ny = ~s(a && b)\nz = ~S'''\na == b\n'''\n",
        &[],
    );
    check(
        "a.ex",
        "if ready do\nx = a <> \"b\" |> f(&(&1 + c))\nok = a and b\n",
        &["if !(ready) do", "x = a <> \"b\" |> f(&(&1 - c))", "ok = a or b"],
    );
    check("a.ex", "x = \"#{a == \"b\"} == c\" # a == b\ny = :true\n", &[]);
}

#[test]
fn only_code_of_php_is_mutated() {
    check(
        "a.php",
        "<p>a == b</p>\n<?php if ($a == $b): ?>\n<b>don't && c</b>\n<?= $x && $y ?> || z\n",
        &["<?php if ($a != $b): ?>", "<?= $x || $y ?> || z"],
    );
    check(
        "a.php",
        "<?php\n$s = \"a {$b['c == d']} == e\"; // a == b ?> == <?php\n$t = <<<END\n  a == b\n  END . ($c === $d);\n# a == b\n",
        &["; // a == b ?> == <?php", "END . ($c !== $d);"],
    );
    check(
        "a.php",
        "<?php\nnamespace A;\nif ($this->isOpen()) {\n    $this->close($x);\n    $this->total += $n;\n}\n",
        &["if (!($this->isOpen())) {", ";", ";", "$this->total -= $n;"],
    );
}

#[test]
fn lua_and_others() {
    check(
        "a.lua",
        "if a == b then\nif a ~= b and ready then\nif ready then\n",
        &["if a ~= b then", "if a == b and ready then", "if a ~= b or ready then", "if not (ready) then"],
    );
    check(
        "a.lua",
        "s = [==[ a == b ]] ]==] --[[ a == b\n c == d ]] t = \"a == b\" -- a == b\n--[=[ ]] a == b ]=]\n",
        &[],
    );
    check("a.lua", "x = a - b\nx = a .. b\n", &["x = a + b"]);
    check(
        "a.r",
        "ok <- TRUE # a == b\nif (ready) {\ny <- x %in% c(a)\n",
        &["ok <- FALSE # a == b", "if (!(ready)) {"],
    );
    check(
        "a.jl",
        "#= a == b #= c =# a == b =# x = a == b\nif ready\ns = \"$(f(\"a == b\")) == c\"\n",
        &["#= a == b #= c =# a == b =# x = a != b", "if !(ready)"],
    );
    check("a.nim", "#[ a == b ]# x = a and b\nif ready:\n", &["#[ a == b ]# x = a or b", "if not (ready):"]);
    check(
        "a.zig",
        "const s =\n    \\\\ a == b\n;\nif (ready) {\nx = a == b; // c == d\n",
        &["if (!(ready)) {", "x = a != b; // c == d"],
    );
    check(
        "a.awk",
        "/a == b/ { next } # a == b\nNF != 3 { exit 1 }\n{ total += $3 / 2 }\nfound = 1\n",
        &[
            "NF == 3 { exit 1 }",
            "NF != 4 { exit 1 }",
            "NF != 3 { exit 0 }",
            "{ total -= $3 / 2 }",
            "{ total += $3 * 2 }",
            "{ total += $3 / 3 }",
            ";",
            "found = 0",
        ],
    );
    check("a.awk", "{ print a > \"/dev/stderr\" }\nprint a\nif (x > y) print\n", &[";", "if (x <= y) print"]);
}

/// Texts of the older languages that a simpler lexer takes for code.
#[test]
fn nested_texts_and_comments() {
    check(
        "a.rs",
        "/* /* a == b */ c == d */ let x = a == b;\n",
        &["/* /* a == b */ c == d */ let x = a != b;"],
    );
    check(
        "a.rs",
        "let c = '\\''; let d = '\\u{1F600}'; let e = a == b;\n",
        &["let c = '\\''; let d = '\\u{1F600}'; let e = a != b;"],
    );
    check(
        "a.js",
        "const s = `a ${b ? `c == d` : \"e\"} == f`; x = a == b;\n",
        &["const s = `a ${b ? `c == d` : \"e\"} == f`; x = a != b;"],
    );
    check("a.js", "const s = `a == b\nc == d ${e}`;\n", &[]);
    check("a.go", "s := `a == \\`; t := a == b\n", &["s := `a == \\`; t := a != b"]);
}
