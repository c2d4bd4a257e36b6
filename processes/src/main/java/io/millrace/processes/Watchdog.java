package io.millrace.processes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shell in a session of its own that outlives this process for a moment: when its pipe ends, it
 * kills the programs that it guards, and this process's own group if that is wanted, with all of
 * its session if {@link #startDirectly} was called. So they end with this process, however that
 * ends. It also sends signals to groups, which Java cannot, without another process for each. One
 * that was killed is replaced. Safe for use by any number of threads.
 */
public final class Watchdog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);
  private static final int ATTEMPTS = 3;
  private static final String SCRIPT =
      """
      trap '' PIPE HUP INT TERM
      own=$1 groups=' ' sweeping=
      # A program that has just started may not lead its group yet.
      end() {
        tries=0
        until kill -s KILL -- "-$1"; do
          kill -s 0 -- "$1" && [ "$tries" -lt 20 ] || return
          tries=$((tries + 1))
          sleep 0.05
        done
      }
      while read -r verb what whom; do
        case $verb in
        guard)
          case $groups in
          *" $what "*) ;;
          *) groups="$groups$what " ;;
          esac
          echo yes
          ;;
        end)
          end "$what"
          groups="${groups%% $what *} ${groups#* $what }"
          echo yes
          ;;
        sweep)
          sweeping=yes
          echo yes
          ;;
        signal) if kill -s "$what" -- "-$whom" 2>/dev/null; then echo yes; else echo no; fi ;;
        esac
      done
      for group in $groups; do end "$group"; done
      killed=' '
      while [ -n "$sweeping" ]; do
        sweeping=
        for stat in /proc/[0-9]*/stat; do
          read -r line <"$stat" || continue
          pid=${line%% *}
          # After the name, which may hold anything: state, parent, group, session.
          set -- ${line##*) }
          [ "$4" = "$own" ] || continue
          case $killed in *" $pid "*) continue ;; esac
          killed="$killed$pid "
          kill -s KILL -- "$pid" "-$3"
          sweeping=yes
        done
      done
      [ -z "$own" ] || kill -s KILL -- "-$own"
      """;

  private final ProcessLauncher launcher;
  private final String own;
  private final SequencedSet<Long> guarded = new LinkedHashSet<>();
  private volatile @Nullable DirectLauncher direct;
  private boolean sweeping;
  private @Nullable Shell shell;
  private boolean closed;

  /** The running shell. */
  private record Shell(Process process, Writer orders, BufferedReader answers) {}

  /**
   * Starts it.
   *
   * @param own the process group that ends with this process; null for none
   * @throws ProcessException when it cannot be started
   */
  public Watchdog(ProcessLauncher launcher, @Nullable Long own) {
    this.launcher = launcher;
    this.own = own == null ? "" : own.toString();
    synchronized (this) {
      shell = start();
    }
  }

  ProcessLauncher launcher() {
    return launcher;
  }

  /**
   * Makes programs start directly from soon on, if this system can do that and this process leads a
   * session of its own, all of which then ends with it. Returns at once, may be repeated.
   */
  public synchronized void startDirectly() {
    if (!own.isEmpty() && !sweeping) {
      sweeping = true;
      order("sweep");
      Thread.ofPlatform()
          .name("direct starts")
          .daemon()
          .start(() -> direct = DirectLauncher.in(own).orElse(null));
    }
  }

  /**
   * Whether programs can be started directly on this system. Makes all ready for that, which takes
   * some 0.2 s of a processor, and tries it.
   */
  public static boolean canStartDirectly() {
    return DirectLauncher.load().isPresent();
  }

  /** Starts without a shell in between; null while there is no such thing. */
  @Nullable DirectLauncher direct() {
    return direct;
  }

  /**
   * Empties a file to which programs have written, so that another one can write to it, if no
   * process has it open any more.
   *
   * @param file not a symbolic link
   * @return whether it is empty and closed; false also if that is not known, as long as programs
   *     are not started directly
   */
  public boolean emptyUnlessOpen(Path file) {
    return direct != null && Libc.emptyUnlessOpen(file);
  }

  /** From now on, until it is ended, this group dies with this process. */
  synchronized void guard(long group) {
    guarded.add(group);
    order("guard " + group);
  }

  /** Kills what is left of a group, and guards it no longer. */
  synchronized void end(long group) {
    order("end " + group);
    guarded.remove(group);
  }

  /**
   * Sends a signal to a group; 0 only looks.
   *
   * @return whether there was a process in it
   */
  synchronized boolean signal(String signal, long group) {
    return order("signal " + signal + " " + group).equals("yes");
  }

  private String order(String order) {
    IOException last = null;
    for (int i = 0; i < ATTEMPTS && !closed; i++) {
      try {
        Shell now = shell;
        if (now == null) {
          now = start();
          shell = now;
          if (sweeping) {
            ask(now, "sweep");
          }
          for (long group : guarded) {
            ask(now, "guard " + group);
          }
        }
        return ask(now, order);
      } catch (IOException e) {
        last = e;
        LOG.warn("the watchdog has gone and is replaced: {}", e.toString());
        discard();
      }
    }
    throw new ProcessException("the watchdog does not answer: " + last);
  }

  private static String ask(Shell shell, String order) throws IOException {
    shell.orders().write(order + "\n");
    shell.orders().flush();
    String answer = shell.answers().readLine();
    if (answer == null) {
      throw new IOException("its answers have ended");
    }
    return answer;
  }

  private Shell start() {
    List<String> command =
        launcher.inOwnSession(List.of("/bin/sh", "-c", SCRIPT, "millrace-watchdog", own));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      var _ = process.onExit().thenAccept(this::replace);
      return new Shell(process, process.outputWriter(), process.inputReader());
    } catch (IOException e) {
      throw new ProcessException("the watchdog cannot be started: " + e, e);
    }
  }

  /** Without one, a program would outlive this process: do not wait for the next order. */
  private synchronized void replace(Process gone) {
    Shell now = shell;
    if (!closed && now != null && now.process().equals(gone)) {
      discard();
      if (sweeping || !guarded.isEmpty()) {
        order("signal 0 " + (sweeping ? own : guarded.getFirst()));
      }
    }
  }

  private void discard() {
    Shell old = shell;
    shell = null;
    if (old != null) {
      // Its own end must not kill what another guards now.
      old.process().destroyForcibly();
    }
  }

  /**
   * Ends it, and so what it guards; one that guards this process's own group ends with the process,
   * which would be killed otherwise.
   */
  @Override
  public synchronized void close() {
    if (!own.isEmpty()) {
      return;
    }
    closed = true;
    Shell old = shell;
    shell = null;
    if (old != null) {
      try {
        old.orders().close();
      } catch (IOException e) {
        LOG.debug("the pipe of the watchdog cannot be closed", e);
      }
    }
  }
}
