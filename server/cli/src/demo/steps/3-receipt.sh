#!/bin/sh
# Prints a receipt for the basket on standard input: quantity;name;price.

if [ "${1-}" = --help ]; then
    echo 'usage: sh receipt.sh < BASKET'
    echo 'A basket has one "quantity;name;price" a line.'
    exit 0
fi

LC_ALL=C awk -F ';' '
    /^ *$/ { next }
    NF != 3 {
        printf "receipt.sh: line %d: expected quantity;name;price\n", NR > "/dev/stderr"
        failed = 1
        exit 1
    }
    {
        price = $1 * $3
        printf "%-20s %8.2f\n", $1 " x " $2, price
        total += price
    }
    END { if (!failed) printf "%-20s %8.2f\n", "Total", total }
'
