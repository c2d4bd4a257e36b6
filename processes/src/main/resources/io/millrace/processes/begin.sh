# Already in the program's session: records who it is, waits for permission, and becomes the program.
millrace_folder=$1
shift
# What is written here is for the owner alone; the program gets the umask that it would have had.
millrace_umask=$(umask)
umask 077
# The launcher may die at any moment; that must not end this before it is recorded.
trap '' PIPE
millrace_mark() {
  if [ -r "/proc/$1/stat" ]; then
    read -r millrace_boot </proc/sys/kernel/random/boot_id
    read -r millrace_stat <"/proc/$1/stat"
    set -- ${millrace_stat##*) }
    millrace_mark=$millrace_boot:${20}
  else
    set -- $(LC_ALL=C TZ=UTC0 /bin/ps -o lstart= -p "$1")
    millrace_mark="$*"
  fi
}
millrace_mark $$
millrace_own=$millrace_mark
millrace_mark "$PPID"
printf '%s %s\n%s %s\n' $$ "$millrace_own" "$PPID" "$millrace_mark" \
  >"$millrace_folder/identity" || exit 125
echo ready >&4
if ! read -r millrace_leave <&3; then
  echo never >"$millrace_folder/exit"
  exit 125
fi
exec 3<&- 4>&-
trap - PIPE
umask "$millrace_umask"
exec "$@"
