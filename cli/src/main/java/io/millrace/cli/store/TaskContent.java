package io.millrace.cli.store;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.When;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What is written to a task, and by whom: its data and the time from which it can be claimed. */
final class TaskContent {
  @Option(
      names = "--from",
      paramLabel = "FILE",
      description = "Takes the bytes of this file as its data; - is standard input.")
  private @Nullable Path file;

  @Option(
      names = "--after",
      paramLabel = "TIME",
      converter = Durations.class,
      description =
          "How long until everybody can claim it, as 500ms, 30s, 5m, 2h or 1d. Default: now")
  private @Nullable Duration after;

  @Mixin private Client client = new Client();

  /**
   * The data; null where there is none.
   *
   * @param text given as an argument; null for none
   */
  @Nullable Bytes data(@Nullable String text, Terminal terminal) throws IOException {
    if (text != null && file != null) {
      throw new UsageException("give the data as an argument or with --from, not both");
    }
    if (file == null) {
      return text == null ? null : Bytes.of(text);
    }
    byte[] content =
        file.toString().equals("-") ? terminal.in().readAllBytes() : Files.readAllBytes(file);
    return Bytes.copyOf(content);
  }

  /** Whether it is to wait. */
  boolean isLater() {
    return after != null;
  }

  /** From when on it can be claimed. */
  When when() {
    return after == null ? When.now() : When.after(after);
  }

  /** Who writes it. */
  Owner owner() {
    return client.owner();
  }
}
