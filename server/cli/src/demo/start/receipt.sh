#!/bin/sh
# Prints a receipt for the basket on standard input: quantity;name;price.

case "${1-}" in
    '') ;;
    *)
        echo "receipt.sh: unknown option $1" >&2
        exit 2
        ;;
esac

LC_ALL=C awk -F ';' '
    {
        printf "%-20s %8.2f\n", $1 " x " $2, $3
        total += $3
    }
    END { printf "%-20s %8.2f\n", "Total", total }
'
