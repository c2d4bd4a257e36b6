package io.millrace.cli.remote;

import io.millrace.cli.terminal.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How long to wait for work to end, as an option. */
public final class WaitOptions {
  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "The longest wait, as 30s or 5m; exits with 7 after it. Default: no end")
  private @Nullable Duration timeout;

  /** When to give up, by {@link System#nanoTime()}; in the far future for never. */
  public long endNanos() {
    Duration longest = Duration.ofNanos(Long.MAX_VALUE / 2);
    Duration left = timeout == null || timeout.compareTo(longest) > 0 ? longest : timeout;
    return System.nanoTime() + left.toNanos();
  }
}
