package io.millrace.cli.jobs;

import io.millrace.cli.remote.SecretFile;
import io.millrace.cli.terminal.UsageException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A secret from a file, or else from the environment. */
final class Secret {
  private Secret() {}

  /**
   * The secret; null where there is none.
   *
   * @param what how it is called in messages, as {@code API key}
   * @param variable the environment variable that is looked at where there is no file; an empty one
   *     counts as absent
   * @throws UsageException when it cannot be read, or is none that can be sent
   */
  static @Nullable String read(String what, @Nullable Path file, String variable) {
    String given = file == null ? System.getenv(variable) : SecretFile.read(what + " file", file);
    if (given == null || given.isEmpty()) {
      return null;
    }
    if (!given.chars().allMatch(c -> c > ' ' && c < 127)) {
      String place = file == null ? variable : file.toString();
      throw new UsageException(
          "the " + what + " in " + place + " must be printable ASCII without spaces");
    }
    return given;
  }
}
