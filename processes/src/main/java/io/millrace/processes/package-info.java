/**
 * Programs of the operating system: started in a session of their own, watched, ended, found again.
 *
 * <p>{@link io.millrace.processes.ProcessLauncher} starts a {@link
 * io.millrace.processes.ProcessSpec} and answers a {@link io.millrace.processes.RunningProcess}.
 * Everything about the process is in its folder, written by the process's own side and never by the
 * launcher's JVM, so that nothing is lost when that JVM is killed; {@link
 * io.millrace.processes.ProcessLauncher#find} finds the process by its folder again.
 *
 * <pre>
 *   launcher (JVM)        supervisor (sh, own session)      program (own session and group)
 *        | ---- starts ----------> |                                  |
 *        |                         | ---- starts as sh --------------> |
 *        |                         |                                  | writes identity
 *        | &lt;--------------------------- "ready" ----------------------|
 *        | --------------------------- permission ------------------> |
 *        |                         |                                  | becomes the program
 *        |                         | &lt;------------ ends --------------|
 *        |                         | writes exit
 *        | &lt;------- ends ----------|
 * </pre>
 *
 * <p>The program begins only with the launcher's permission, after its identity is on file. So a
 * launcher that dies in between leaves a folder that says {@link
 * io.millrace.processes.ExitStatus.NeverStarted}, or one without an identity in which nothing will
 * run. If {@code find} sees nothing in a folder, no program will ever run there, and starting
 * elsewhere cannot start it twice. A pid alone is not trusted: {@link
 * io.millrace.processes.ProcessIdentity} contains the time of the start as well.
 *
 * <p>{@link io.millrace.processes.ProcessSpawner} keeps supervisors, each of which runs one program
 * after the other and reads its output itself, so that a program costs one fork and one {@code
 * exec}. Here a program's own side makes the file {@code claim} in the moment before it begins. If
 * {@code find} sees nothing begun, it makes a folder of that name. Only one of the two can be made,
 * so the same holds. A request that a supervisor reads after its launcher's death is not carried
 * out.
 *
 * <p>The files of a folder:
 *
 * <ul>
 *   <li>{@code stdin}, {@code stdout}, {@code stderr}, {@code mixed}; {@link
 *       io.millrace.processes.Output} says which.
 *   <li>{@code identity}: two lines, pid and mark of the start, of the program and of its
 *       supervisor.
 *   <li>{@code exit}: one line, the exit code or {@code never}; complete only with its end of line.
 *   <li>{@code supervisor}: error messages of the supervisor.
 * </ul>
 *
 * <p>A spawner makes as few files as it can, since making and removing files is what costs most on
 * some file systems: {@code identity} has further lines, what is kept of the output, the exit code,
 * and {@code complete} when all output is there; {@code claim} is a link to it; {@code stdin}
 * exists if it has bytes, and so do the outputs with {@link io.millrace.processes.Output#ALL}. No
 * file is synced to disk: the files survive the death of every process, but not that of the
 * machine, which no process survives either. The owner of the folder has to remove it.
 *
 * <p>The system must have {@code sh}, {@code tee} and {@code mkfifo} of POSIX, and for the own
 * session {@code setsid} (util-linux, BusyBox) or {@code perl} (for example on macOS). Without
 * either {@link io.millrace.processes.ProcessLauncher#create} fails and says so. A spawner's
 * supervisors are {@code perl}; without it or {@code /proc}, programs are started as the launcher
 * does. Linux and macOS are supported; Windows is not.
 */
@NullMarked
package io.millrace.processes;

import org.jspecify.annotations.NullMarked;
