package io.millrace.cli.store;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What is put into tasks and documents: text on the command line, or any bytes of a file. */
final class Content {
  /** How an option with a file is described. */
  static final String FROM = "Takes the bytes of this file instead; - is standard input.";

  private Content() {}

  /** The bytes meant; null where there are neither text nor file. */
  static @Nullable Bytes of(@Nullable String text, @Nullable Path file, Terminal terminal)
      throws IOException {
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
}
