/**
 * Programs of the operating system: started in a session of their own, watched, ended, found again.
 *
 * <p>{@link io.millrace.processes.ProcessLauncher} starts a {@link
 * io.millrace.processes.ProcessSpec} and answers a {@link io.millrace.processes.RunningProcess}.
 * Everything about the process is in its folder, written by the process's own side and never by the
 * launcher's JVM, so that nothing is lost when that JVM is killed; {@link
 * io.millrace.processes.ProcessLauncher#find} takes it up from the folder again.
 *
 * <pre>
 *   launcher (JVM)        supervisor (sh, own session)      program (own session and group)
 *        | ---- starts ----------> |                                  |
 *        |                         | ---- starts as sh --------------> |
 *        |                         |                                  | writes identity
 *        | &lt;--------------------------- "ready" ----------------------|
 *        | ------------------------------ leave ---------------------> |
 *        |                         |                                  | becomes the program
 *        |                         | &lt;------------ ends --------------|
 *        |                         | writes exit
 *        | &lt;------- ends ----------|
 * </pre>
 *
 * <p>The program begins only with the launcher's leave, after its identity is on file. So a
 * launcher that dies in between leaves a folder that says {@link
 * io.millrace.processes.ExitStatus.NeverStarted}, or one without an identity in which nothing will
 * run: a folder in which {@code find} sees nothing never turns into a running program, and starting
 * elsewhere cannot start twice. A pid alone is not believed: {@link
 * io.millrace.processes.ProcessIdentity} holds the time of the start as well.
 *
 * <p>{@link io.millrace.processes.ProcessSpawner} keeps supervisors, each of which runs one program
 * after the other and reads its output itself, so that a program costs one fork and one {@code
 * exec}. There is no leave: a program's own side makes the file {@code claim} in the moment before
 * it begins, and {@code find}, where it sees nothing begun, a folder of that name. Only one of the
 * two can be made, so the same holds. A request that a supervisor reads after its launcher's death
 * is not carried out.
 *
 * <p>The files of a folder: {@code stdin}, {@code stdout}, {@code stderr}, {@code mixed} (which of
 * them, see {@link io.millrace.processes.Output}), {@code identity} (two lines, pid and mark of the
 * start, of the program and of its supervisor), {@code exit} (one line, the exit code or {@code
 * never}; whole only with its end of line), {@code supervisor} (complaints of the supervisor). A
 * spawner makes as few as it can, since on some file systems making and removing files is what
 * costs most: {@code identity} has further lines, what is kept of the output, the exit code, and
 * {@code complete} when all output is there; {@code claim} is a link to it; {@code stdin} is there
 * when it has bytes, and with {@link io.millrace.processes.Output#ALL} so are the outputs. None is
 * synced to disk: they survive the death of every process, not that of the machine, which no
 * process survives either. Removing the folder is its owner's business.
 *
 * <p>What the system must have: {@code sh} and {@code tee} and {@code mkfifo} of POSIX, and for the
 * own session {@code setsid} (util-linux, BusyBox) or, where it is absent as on macOS, {@code
 * perl}. Without either {@link io.millrace.processes.ProcessLauncher#create} fails and says so. A
 * spawner's supervisors are {@code perl}; where it or {@code /proc} is absent, programs are started
 * as the launcher does. Linux and macOS are supported; Windows is not.
 */
@NullMarked
package io.millrace.processes;

import org.jspecify.annotations.NullMarked;
