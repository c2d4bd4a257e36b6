# Runs programs, one after the other, and supervises each. Reads lines "KEY OUTPUT FOLDER", and writes
# what happens: "r PID BOOT:START PID BOOT:START" when a program begins, with its own identity and this
# shell's, "e CODE" when it has ended, "d" when its output is complete. Arguments: tee, and the command
# that begins a session. Nothing runs in the background, where shells make programs deaf to INT.
millrace_tee=$1
shift
# The launcher may die at any moment; that ends neither the program nor this, which records how it ends.
trap '' PIPE
read -r millrace_boot </proc/sys/kernel/random/boot_id
exec 3<&0 </dev/null 4>&1 >/dev/null

# Which process this is; $$ would be that of the first shell.
millrace_look() {
  read -r millrace_stat </proc/self/stat
  millrace_pid=${millrace_stat%% *}
  set -- ${millrace_stat##*) }
  millrace_own="$millrace_pid $millrace_boot:${20}"
}

millrace_begin() {
  millrace_look
  . "$millrace_folder/start"
  printf '%s\n%s\n' "$millrace_own" "$millrace_supervisor" >"$millrace_folder/identity" || exit 125
  # Made by whoever comes first: this, or one who has found nothing begun and wants it to stay so.
  set -C
  : >"$millrace_folder/claim" || exit 125
  echo "r $millrace_own $millrace_supervisor" >&4
  trap - PIPE
  exec 3<&- 4>&- 6>&-
  exec "$@"
}

millrace_run() {
  # What the shell says of a program that was killed is no output of the program.
  exec 6>&2 2>/dev/null
  (millrace_begin "$@") 2>&6
  millrace_code=$?
  exec 6>&-
  echo "$millrace_code" >"$millrace_folder/exit"
  echo "e $millrace_code" >&4
}

millrace_look
millrace_supervisor=$millrace_own
while read -r millrace_key millrace_output millrace_folder <&3; do
  case $millrace_output in
  SEPARATE)
    millrace_run "$@" \
      <"$millrace_folder/stdin" >>"$millrace_folder/stdout" 2>>"$millrace_folder/stderr"
    ;;
  MIXED) millrace_run "$@" <"$millrace_folder/stdin" >>"$millrace_folder/mixed" 2>&1 ;;
  ALL)
    {
      millrace_run "$@" <"$millrace_folder/stdin" 2>&1 >&5 5>&- |
        "$millrace_tee" -a "$millrace_folder/stderr" >>"$millrace_folder/mixed" 3<&- 4>&- 5>&-
    } 5>&1 | "$millrace_tee" -a "$millrace_folder/stdout" >>"$millrace_folder/mixed" 3<&- 4>&-
    ;;
  esac
  echo >"$millrace_folder/complete"
  echo d >&4
done
