package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import io.millrace.store.environment.FileProblem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** Reads secrets from files, because other users can see the command lines of processes. */
public final class SecretFile {
  private SecretFile() {}

  /**
   * Reads the secret in a file, without white space around it.
   *
   * @param what the name of the file in messages, for example {@code token file}
   * @throws UsageException if the file cannot be read or is empty
   */
  public static String read(String what, Path file) {
    try {
      String secret = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
      if (secret.isEmpty()) {
        throw new UsageException("the " + what + " " + file + " is empty");
      }
      return secret;
    } catch (IOException e) {
      throw new UsageException(
          "cannot read the " + what + " " + file + ": " + FileProblem.reason(e), e);
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
      if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
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
   * Reads a secret from a file or an environment variable; null if there is none.
   *
   * @param what the name of the secret in messages, for example {@code API key}
   * @param variable the environment variable to use if {@code file} is null; an empty value counts
   *     as absent
   * @throws UsageException if it cannot be read, or cannot be sent in a header
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
