//! What is mutated in scripts of a shell, and what never is.

use super::check;

#[test]
fn tests_of_a_shell() {
    check("a.sh", "if [ \"$a\" -eq 3 ]; then\n", &["if [ \"$a\" -ne 3 ]; then", "if [ \"$a\" -eq 4 ]; then"]);
    check(
        "a.sh",
        "[ -z \"$a\" ]\ntest -n \"$a\"\n[ a = \"-z\" ]\n",
        &["[ -n \"$a\" ]", "test -z \"$a\"", "[ a != \"-z\" ]"],
    );
    check("a.sh", "[ -f x ]\n[ ! -d x ]\n", &["[ ! -f x ]", "[ -d x ]"]);
    check(
        "a.sh",
        "[ $a -lt $b ]\n[ $a -ge $b ]\n[ $a -gt $b ]\n[ $a -le $b ]\n",
        &["[ $a -ge $b ]", "[ $a -lt $b ]", "[ $a -le $b ]", "[ $a -gt $b ]"],
    );
    check(
        "a.sh",
        "[[ $a == b* && -n $c ]]\n[[ $a =~ ^(a|b)$ ]]\n",
        &["[[ $a != b* && -n $c ]]", "[[ $a == b* || -n $c ]]", "[[ $a == b* && -z $c ]]"],
    );
    check("a.sh", "grep -n = -z x\nfind . -eq 3\n", &[":"]);
}

#[test]
fn conditions_constants_and_statuses() {
    check("a.sh", "a && b\na || exit 1\na || true\n", &["a || b", "a && exit 1", "a || exit 0"]);
    check(
        "a.sh",
        "if grep -q x y; then\nif ! ready | tail; then\nwhile read -r x; do\n",
        &["if ! grep -q x y; then", "if ready | tail; then"],
    );
    check("a.sh", "if a && b; then\n", &["if a || b; then"]);
    check(
        "a.sh",
        "found=false\nlimit=5\nflag=1\nmode=0755\ntimeout=30\nname=x\nX=1 run\n",
        &["found=true", "limit=6", "flag=0"],
    );
    check("a.sh", "f() {\n    return 1\n}\nexit 0\nreturn \"$x\"\n", &["return 0", "exit 1"]);
    check("a.sh", "while true; do\nif false; then\nuntil false; do\n", &["while false; do", "if true; then"]);
    check(
        "a.sh",
        "n=$((n + 1))\nm=$(( a * (b - 2) ))\n",
        &[
            "n=$((n - 1))",
            "n=$((n + 2))",
            "m=$(( a / (b - 2) ))",
            "m=$(( a * (b + 2) ))",
            "m=$(( a * (b - 3) ))",
        ],
    );
    check(
        "a.sh",
        "for ((i = 0; i < n; i++)); do\n",
        &["for ((i = 1; i < n; i++)); do", "for ((i = 0; i >= n; i++)); do"],
    );
}

#[test]
fn statements_that_print_call_or_assign_again() {
    check("a.sh", "report() {\n    echo \"$1\"\n}\nreport x\nother x\n", &[":", ":"]);
    check("a.sh", "a=x\na=\"$a y\"\nb=x\n", &[":"]);
    check("a.sh", "echo a >&2\necho b | other\necho c \\\n  d\nx && echo e\n", &["x || echo e"]);
    check("a.sh", "cd sub\nshift\nset -e\nexport A=b\nread -r x\nbreak\nlocal a=1\n", &[]);
    check(
        "a.sh",
        "case $1 in\n    -x | --long) echo a ;;\n    *)\n        echo b\n        ;;\nesac\n",
        &["-x | --long) : ;;", ":"],
    );
    check("a.sh", "{ echo a; echo b; }\n", &["{ :; echo b; }", "{ echo a; :; }"]);
}

#[test]
fn comments_quotes_and_documents_are_left_alone() {
    check("a.sh", "# [ a = b ]\nx # a && b\nx '[ a = b ] && c' \"a && b\" a\\&\\&b $'a\\' && b'\n", &[]);
    check(
        "a.sh",
        "cat <<END\na && b\nEND\ncat <<-'OTHER'\n\ta && b\n\tOTHER\ncat <<\"A\" <<B\na && b\nA\nc && d\nB\na && b\n",
        &["a || b"],
    );
    check("a.sh", "x \"${a:-\"b && c\"}\" \"$(d \"e && f\")\" `g && h` ${i:-'j && k'}\n", &[]);
    check(
        "a.sh",
        "x=$(a && b \"$(c || d)\")\ny=\"$(e && f)\"\n",
        &["x=$(a || b \"$(c || d)\")", "x=$(a && b \"$(c && d)\")", "y=\"$(e || f)\""],
    );
    check("a.sh", "x=$(( 16#ff )) ${a#b} ${#a} a#b\nx=(a b) # c && d\n", &[]);
    check("a.sh", "case x in a) b && c ;; (d) e ;; esac\n", &["case x in a) b || c ;; (d) e ;; esac"]);
}

#[test]
fn a_script_with_unknown_syntax_has_no_mutants() {
    check("a.sh", "a && b\necho 'open\n", &[]);
    check("a.sh", "a && b\necho \"$(open\n", &[]);
    check("a.sh", "a && b\ncat <<END\n", &[]);
    check("a.sh", "a && b\nx=$(case y in z) ;; esac)\n", &[]);
    check("a.sh", "a && b\nx=$(cat <<END\nit's\nEND\n)\n", &[]);
    check("a.sh", "a && b\necho done\n", &["a || b", ":"]);
}

#[test]
fn a_script_with_harmful_commands_has_no_mutants() {
    for line in [
        "rm -rf \"$dir\"",
        "mv a b",
        "sh -c 'rm x'",
        "find . -name x -delete",
        "sed -i s/a/b/ x",
        "git push",
        "curl \"$url\"",
        "echo a > \"$out\"",
        "echo a >> /etc/hosts",
        "echo a > ../x",
        "eval \"$x\"",
        "awk '{ system(\"ls \" $1) }'",
        "x=$(echo a > \"$out\")",
    ] {
        check("a.sh", &format!("a && b\n{line}\n"), &[]);
    }
    for line in ["echo a > out.txt", "echo a 2>/dev/null", "x 2>&1", "x > \"/dev/null\" < \"$in\"", "# rm x"]
    {
        check("a.sh", &format!("a && b\n{line}\n"), &["a || b"]);
    }
}

/// No redirection and no glob is changed, and no statement with one is removed.
#[test]
fn redirections_and_globs_stay() {
    check(
        "a.sh",
        "echo a > x && [ b = c ] < y\n",
        &["echo a > x || [ b = c ] < y", "echo a > x && [ b != c ] < y"],
    );
    check(
        "a.sh",
        "for f in *.txt [0-9]?; do\n[ -f *.md ]\ncase $1 in [0-9]*) b;; esac\n",
        &["[ ! -f *.md ]"],
    );
}

#[test]
fn programs_of_awk_are_code() {
    check(
        "a.sh",
        "LC_ALL=C awk -F ';' -v n=3 '\n    NF != 3 { exit 1 } # a == b\n    { total += $1 * $3 }\n'\n",
        &[
            "NF == 3 { exit 1 } # a == b",
            "NF != 4 { exit 1 } # a == b",
            "NF != 3 { exit 0 } # a == b",
            "{ total -= $1 * $3 }",
            "{ total += $1 / $3 }",
        ],
    );
    check("a.sh", "awk -f '1 + 1' x\nother 'a == b'\n", &[":"]);
    check("a.sh", "x=$(awk '{ print $1 - $2 }' y)\n", &["x=$(:)", "x=$(awk '{ print $1 + $2 }' y)"]);
}
