package io.millrace.processes;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The perl of this machine, if it has one with all that {@code spawn.pl} needs. */
final class Perl {
  private static final Logger LOG = LoggerFactory.getLogger(Perl.class);

  /** Some distributions have the module in a package of its own. */
  private static final String PROBE = "use POSIX ();";

  private static final long PATIENCE_SECONDS = 60;

  private @Nullable String program;
  private boolean known;

  /** The one with this path, which nobody has tried; null for none. */
  Perl(@Nullable String program) {
    this.program = program;
    this.known = program == null;
  }

  /** Its path; null where it is of no use. Tried once, which takes some milliseconds. */
  synchronized @Nullable String usable() {
    if (!known) {
      known = true;
      if (!works(List.of(String.valueOf(program), "-C0", "-e", PROBE))) {
        LOG.info("{} lacks the module POSIX, so starting programs takes longer", program);
        program = null;
      }
    }
    return program;
  }

  private static boolean works(List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        return process.exitValue() == 0;
      }
      process.destroyForcibly();
    } catch (IOException e) {
      LOG.debug("perl cannot be tried", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }
}
