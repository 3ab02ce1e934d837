# Sets what the tests in a real Visual Studio Code need, from the root of the checkout: node, code-server, a browser. Exits
# with 3 and the reason on stderr if this machine lacks something.

. tests/tools/code-server.sh
. tests/tools/chromium.sh
tools=$PWD/target/tools
mkdir -p "$tools"

LOOPKEEPER_TEST_NODE24=$(get_node24 "$tools") || exit 3
LOOPKEEPER_TEST_CODE_SERVER=$(get_code_server "$tools") || exit 3
LOOPKEEPER_TEST_CHROMIUM=$(get_chromium "$tools") || exit 3
LOOPKEEPER_TEST_PLAYWRIGHT=$tools/playwright
export LOOPKEEPER_TEST_NODE24 LOOPKEEPER_TEST_CODE_SERVER LOOPKEEPER_TEST_CHROMIUM LOOPKEEPER_TEST_PLAYWRIGHT
