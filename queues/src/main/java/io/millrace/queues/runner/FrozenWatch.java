package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kills runners that do not stop their work although their claims are about to end, since somebody
 * has stopped them: their slots become free then. Their watchdogs and {@link Remains} end the rest.
 */
final class FrozenWatch {
  private static final Logger LOG = LoggerFactory.getLogger(FrozenWatch.class);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);
  private static final String SILENT =
      "its runner said nothing until its claim was about to end, so it was killed";

  private final Crew crew;
  private final ProcessLauncher launcher;

  FrozenWatch(Crew crew, ProcessLauncher launcher) {
    this.crew = crew;
    this.launcher = launcher;
  }

  /**
   * Looks again and again until the clock is shut down.
   *
   * @param lease how long claims last; it looks at least a hundred times within
   */
  void begin(ScheduledExecutorService clock, Duration lease) {
    Duration often = lease.dividedBy(100);
    Duration pause = often.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : often;
    var _ = Schedule.repeat(clock, this::look, pause);
  }

  private void look() {
    crew.frozen().forEach(this::kill);
  }

  private void kill(Slot slot) {
    LOG.warn("the runner in {} is silent and is killed", slot.folder().runner());
    try {
      PrivateFiles.write(slot.folder().lastWords(), SILENT.getBytes(StandardCharsets.UTF_8));
      launcher.killGroup(slot.process().identity());
    } catch (IOException | ProcessException e) {
      LOG.warn("the runner in {} cannot be killed: {}", slot.folder().runner(), e.toString());
    }
  }
}
