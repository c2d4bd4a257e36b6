# Runs one program, keeps its output, and records how it ended. Stands apart from the program's
# session, so that killing the program's group leaves it alive. Names begin with millrace_, so
# that no variable of the program's environment is touched.
millrace_folder=$1 millrace_output=$2 millrace_tee=$3 millrace_mkfifo=$4
shift 4
exec 3<&0 4>&1 <"$millrace_folder/stdin" >/dev/null
case $millrace_output in
SEPARATE)
  "$@" >>"$millrace_folder/stdout" 2>>"$millrace_folder/stderr"
  millrace_code=$?
  ;;
MIXED)
  "$@" >>"$millrace_folder/mixed" 2>&1
  millrace_code=$?
  ;;
ALL)
  "$millrace_mkfifo" -m 600 "$millrace_folder/stdout.pipe" "$millrace_folder/stderr.pipe" || exit 125
  "$millrace_tee" -a "$millrace_folder/stdout" \
    <"$millrace_folder/stdout.pipe" >>"$millrace_folder/mixed" 3<&- 4>&- &
  "$millrace_tee" -a "$millrace_folder/stderr" \
    <"$millrace_folder/stderr.pipe" >>"$millrace_folder/mixed" 3<&- 4>&- &
  exec 5>"$millrace_folder/stdout.pipe" 6>"$millrace_folder/stderr.pipe"
  "$@" >&5 2>&6 5>&- 6>&-
  millrace_code=$?
  exec 5>&- 6>&-
  ;;
esac
umask 077
[ -s "$millrace_folder/exit" ] || echo "$millrace_code" >"$millrace_folder/exit"
wait
exit "$millrace_code"
