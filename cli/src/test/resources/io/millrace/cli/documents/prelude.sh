# Before the commands of one page, which run in one shell.
set -eu -o pipefail
cd "$PAGE"

# With the server of this page, and a request that is refused fails.
curl() {
  local server
  server=$(< "$PAGE/address")
  set -- "${@//http:\/\/localhost:8048/$server}"
  command curl --no-progress-meter --fail-with-body "${@//localhost:8048/${server#http://}}"
}

# What goes on until the page ends must not fail before.
lasting=()
last() { lasting+=("$!"); }
stop_all() {
  local code=$1 each
  set +e
  for each in "${lasting[@]}"; do
    kill "$each" 2> /dev/null
    wait "$each"
    case $? in
      0 | 130 | 143) ;;
      *) echo "a command that should go on has failed" && code=1 ;;
    esac
  done
  if [ -f "$PAGE/server" ]; then
    kill "$(< "$PAGE/server")" 2> /dev/null
    tail --pid="$(< "$PAGE/server")" -s 0.05 -f /dev/null
  fi
  exit "$code"
}
trap 'stop_all $?' EXIT
