package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** Secrets in files, since other users can read the command lines of processes. */
public final class SecretFile {
  private SecretFile() {}

  /**
   * The secret that a file holds, without spaces and line ends around it.
   *
   * @param what how the file is called in messages, as {@code token file}
   * @throws UsageException if it cannot be read, or is empty
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

  /**
   * Writes a secret into a file that only its owner can read, in place of any former one.
   *
   * @throws UncheckedIOException if it cannot be written
   */
  public static void write(Path file, String secret) {
    Path unfinished =
        file.resolveSibling(file.getFileName() + "." + ProcessHandle.current().pid() + ".new");
    try {
      Files.deleteIfExists(unfinished);
      if (Files.getFileStore(file.toAbsolutePath().getParent())
          .supportsFileAttributeView("posix")) {
        Files.createFile(
            unfinished,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      }
      Files.writeString(unfinished, secret + "\n", StandardCharsets.US_ASCII);
      Files.move(
          unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  /**
   * The secret; null if there is none.
   *
   * @param what how it is called in messages, as {@code API key}
   * @param variable the environment variable that is used if there is no file; an empty one counts
   *     as absent
   * @throws UsageException if it cannot be read, or is none that can be sent
   */
  public static @Nullable String readOptional(String what, @Nullable Path file, String variable) {
    String given = file == null ? System.getenv(variable) : read(what + " file", file);
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
