#!/bin/sh
# Prints a receipt for the basket on standard input: quantity;name;price.

case "${1-}" in
    '') ;;
    --help)
        echo 'usage: sh receipt.sh < BASKET'
        echo 'A basket has one "quantity;name;price" a line.'
        exit 0
        ;;
    *)
        echo "receipt.sh: unknown option $1" >&2
        exit 2
        ;;
esac

LC_ALL=C awk -F ';' '
    {
        price = $1 * $3
        printf "%-20s %8.2f\n", $1 " x " $2, price
        total += price
    }
    END { printf "%-20s %8.2f\n", "Total", total }
'
