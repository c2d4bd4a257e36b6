package io.millrace.cli.jobs;

import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shell in a session of its own that kills process groups: those that it is told to, and all that
 * it guards when this process is gone, however that came. Safe for use by threads.
 */
final class Reaper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Reaper.class);
  private static final String SCRIPT =
      """
      trap '' PIPE HUP INT TERM
      groups=' '
      while read -r verb group; do
        case $verb in
        guard) groups="$groups$group " ;;
        kill)
          kill -s KILL -- "-$group" 2>/dev/null
          groups="${groups%% $group *} ${groups#* $group }"
          ;;
        esac
        echo done
      done
      for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
      """;

  private final Process shell;
  private final Writer orders;
  private final BufferedReader answers;

  /**
   * Starts the shell.
   *
   * @throws ProcessException when it cannot be
   */
  Reaper(ProcessLauncher launcher) {
    try {
      shell =
          new ProcessBuilder(
                  launcher.inOwnSession(List.of("/bin/sh", "-c", SCRIPT, "millrace-reaper")))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new ProcessException("the shell that ends commands cannot be started: " + e, e);
    }
    orders = shell.outputWriter();
    answers = shell.inputReader();
  }

  /** The group with this id dies with this process. */
  void guard(long group) {
    order("guard " + group);
  }

  /** Kills what is left of a group, and guards it no longer. */
  void kill(long group) {
    order("kill " + group);
  }

  private synchronized void order(String order) {
    try {
      orders.write(order + "\n");
      orders.flush();
      if (answers.readLine() == null) {
        throw new IOException("it has ended");
      }
    } catch (IOException e) {
      LOG.error("the shell that ends commands does not answer: {}", e.toString());
      throw new ProcessException("the shell that ends commands does not answer: " + e, e);
    }
  }

  @Override
  public synchronized void close() {
    try {
      orders.close();
    } catch (IOException e) {
      LOG.debug("the pipe cannot be closed", e);
    }
  }
}
