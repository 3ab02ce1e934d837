# An agent that runs its n-th act on its n-th start, then repeats the last one. An act is shell, sourced in the
# work tree; it may read $n and $folder, which is outside of the tree.
# usage: sh agent.sh FOLDER [PROMPT | @PROMPT_FILE]
folder=$1
n=$(($(cat "$folder/starts") + 1))
echo "$n" > "$folder/starts.new" && mv "$folder/starts.new" "$folder/starts"
case $# in
  1) cat > "$folder/prompt.$n" ;;
  *) case $2 in
       @*) cat "${2#@}" > "$folder/prompt.$n" ;;
       *) printf '%s' "$2" > "$folder/prompt.$n" ;;
     esac ;;
esac
act=$folder/act.$n
[ -f "$act" ] || act=$folder/act.last
. "$act"
