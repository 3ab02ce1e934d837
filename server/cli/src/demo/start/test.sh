#!/bin/sh
# Tests of receipt.sh, reported as TAP. Run: sh test.sh
pass=0
fail=0

# check NAME INPUT EXIT OUTPUT: white space within lines does not count.
check() {
    found=$(printf '%b' "$2" | sh receipt.sh 2>&1)
    status=$?
    found=$(printf '%s\n' "$found" | tr -s ' ')
    count=$((pass + fail + 1))
    if [ "$status" = "$3" ] && [ "$found" = "$(printf '%b' "$4")" ]; then
        pass=$((pass + 1))
        echo "ok $count - $1"
    else
        fail=$((fail + 1))
        echo "not ok $count - $1"
        printf '%s\n' "$found" | sed "s/^/#   found (exit $status): /"
        printf '%b\n' "$4" | sed "s/^/#   expected (exit $3): /"
    fi
}

check 'one thing' '1;bread;3.45\n' 0 '1 x bread 3.45\nTotal 3.45'
check 'quantities count' '3;milk;0.99\n' 0 '3 x milk 2.97\nTotal 2.97'
check 'things add up' '2;apples;1.20\n1;bread;3.45\n' 0 '2 x apples 2.40\n1 x bread 3.45\nTotal 5.85'
check 'blank lines are skipped' '1;bread;3.45\n\n1;milk;0.99\n' 0 '1 x bread 3.45\n1 x milk 0.99\nTotal 4.44'
check 'a line without a price is refused' '1;bread\n' 1 'receipt.sh: line 1: expected quantity;name;price'
check 'an empty basket costs nothing' '' 0 'Total 0.00'

echo "# tests $((pass + fail))"
echo "# pass $pass"
echo "# fail $fail"
[ "$fail" = 0 ]
