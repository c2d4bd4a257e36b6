package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Secrets in files, since others can read the command lines of processes. */
public final class SecretFile {
  private SecretFile() {}

  /**
   * The secret that a file holds, without spaces and line ends around it.
   *
   * @param what how the file is called in messages, as {@code token file}
   * @throws UsageException when it cannot be read, or is empty
   */
  public static String read(String what, Path file) {
    try {
      String secret = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
      if (secret.isEmpty()) {
        throw new UsageException("the " + what + " " + file + " is empty");
      }
      return secret;
    } catch (IOException e) {
      throw new UsageException("cannot read the " + what + " " + file + ": " + e, e);
    }
  }
}
