#!/usr/bin/env bash
# A process tree that does not want to end. Every member has TOKEN among its arguments.
# usage: hostile_tree.sh TOKEN exit|stay|calm     prints "ready" when all members are up, then exits or stays;
# calm: without the member that is never the same process for long
token=$1 mode=$2
trap '' TERM HUP INT

channel=$(mktemp -u)
mkfifo "$channel"
exec 3<>"$channel"
rm "$channel"

# Signals that it is up, then sleeps under a name with the token in it.
sleeper='echo up >&3; exec 3>&-; exec -a "$0" sleep 600'

# A plain child that ignores TERM, like every process below.
( trap '' TERM; echo up >&3; exec 3>&-; exec -a "$token-plain" sleep 600 ) &
# A separate session, as agents use for their tools.
setsid bash -c "$sleeper" "$token-session" &
# Forked twice: its parent exits immediately.
( ( setsid bash -c "$sleeper" "$token-daemon" & ) & )
# The same without any environment.
( ( setsid env -i /bin/bash -c "$sleeper" "$token-bare" & ) & )
# Holds no stream open.
( setsid bash -c 'echo up >&3; exec 0<&- 1>&- 2>&- 3>&-; exec -a "$0" sleep 600' "$token-closed" & )
# Starts another whenever its child is killed.
( setsid bash -c 'echo up >&3; exec 3>&-; while :; do ( exec -a "$0-child" sleep 600 ); done' "$token-respawn" & )
# Stopped: notices no TERM.
( setsid bash -c 'echo up >&3; exec 3>&-; kill -STOP $$; exec -a "$0" sleep 600' "$token-stopped" & )
# Never the same process for long: each forks the next and exits; bounded.
chain() {
  (( $1 > 0 )) || exec -a "$token-chained" sleep 600
  ( chain $(( $1 - 1 )) ) &
  exit 0
}
( echo up >&3; exec 3>&-; [ "$mode" = calm ] || chain 3000 ) &
# Many at once; bounded.
( for i in {1..150}; do ( exec 3>&-; exec -a "$token-flood" sleep 600 ) & done; echo up >&3; exec 3>&-; wait ) &

for member in {1..9}; do read -r -u 3; done
exec 3>&-
echo ready
[ "$mode" = exit ] && exit 7
while :; do ( exec -a "$token-waits" sleep 600 ); done
