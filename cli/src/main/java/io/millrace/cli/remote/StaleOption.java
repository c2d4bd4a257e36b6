package io.millrace.cli.remote;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --stale} of commands that only read. */
public final class StaleOption {
  @Option(
      names = "--stale",
      paramLabel = "TIME",
      converter = Durations.class,
      description =
          "Accepts an answer of this age, at most 60s, so that any of several servers may give"
              + " it; for example 2s.")
  private @Nullable Duration stale;

  /** Whether it was given. */
  public boolean isGiven() {
    return stale != null;
  }

  /**
   * Options to connect to a server with this age.
   *
   * @throws UsageException if no server accepts it
   */
  public ClientOptions of(ClientOptions options) {
    try {
      return options.withStale(stale);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--" + e.getMessage());
    }
  }
}
