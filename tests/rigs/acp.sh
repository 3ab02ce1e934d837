# An agent that implements the Agent Client Protocol and runs its n-th act on its n-th start, like `agent.sh`. An act
# that begins with `# mute` gets no chance to answer, one that begins with `# login` fails with a missing login.
# usage: sh acp.sh FOLDER
folder=$1
n=$(($(cat "$folder/starts") + 1))
echo "$n" > "$folder/starts.new" && mv "$folder/starts.new" "$folder/starts"
act=$folder/act.$n
[ -f "$act" ] || act=$folder/act.last

says() { printf '%s\n' "$1"; }
answer() { says '{"jsonrpc":"2.0","id":'"$1"',"result":'"$2"'}'; }
update() { says '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":'"$1"'}}'; }
chunk() { update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'"}}'; }
# Sends the fields of a call; succeeds if the call is allowed this once.
may() {
  says '{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"S","toolCall":{"toolCallId":"t",'"$1"'},"options":[{"optionId":"always","name":"A","kind":"allow_always"},{"optionId":"yes","name":"Y","kind":"allow_once"},{"optionId":"no","name":"N","kind":"reject_once"}]}}'
  read -r reply
  case $reply in
    *'"optionId":"yes"'*) return 0 ;;
    *) return 1 ;;
  esac
}
# Ends the turn, then waits for the end of the input.
over() {
  answer 3 '{"stopReason":"'"$1"'","usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15}}'
  cat > /dev/null
}

case $(head -n 1 "$act") in '# mute'*) exec sleep 600 ;; esac
read -r greeting
answer 1 '{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[{"id":"x","name":"Log in with X"}]}'
read -r open
printf '%s\n' "$open" > "$folder/open.$n"
case $(head -n 1 "$act") in
  '# login'*)
    says '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}'
    cat > /dev/null
    exit 0 ;;
esac
case $open in
  *session/load*) update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"said before"}}' ;;
esac
answer 2 '{"sessionId":"S-'"$n"'"}'
read -r prompt
printf '%s\n' "$prompt" > "$folder/prompt.$n"
. "$act"
