package io.millrace.archive;

import io.millrace.archive.ArchiveException.InvalidLocationException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The database of an archive.
 *
 * @param url a JDBC address: {@code jdbc:sqlite:FILE}, {@code jdbc:postgresql://…} or {@code
 *     jdbc:mariadb://…}
 * @param user the name under which to sign in; null for none
 * @param password its password; null for none
 */
public record ArchiveLocation(String url, @Nullable String user, @Nullable String password) {
  private static final String SQLITE = "jdbc:sqlite:";
  private static final String POSTGRESQL = "jdbc:postgresql:";
  private static final String MARIADB = "jdbc:mariadb:";

  /** What the databases differ in. */
  enum Kind {
    SQLITE,
    POSTGRESQL,
    MARIADB
  }

  /**
   * Checks the address.
   *
   * @throws InvalidLocationException if it is of another kind, or names a user or password itself
   */
  public ArchiveLocation {
    if (!url.startsWith(SQLITE) && !url.startsWith(POSTGRESQL) && !url.startsWith(MARIADB)) {
      throw new InvalidLocationException(
          "the archive is at sqlite:FILE, postgresql://HOST/DATABASE or mariadb://HOST/DATABASE");
    }
    String lower = url.toLowerCase(Locale.ROOT);
    if (lower.contains("password=")) {
      throw new InvalidLocationException(
          "the address of the archive contains a password, which the log would show; give it as the"
              + " password");
    }
    if (url.equals(SQLITE)) {
      throw new InvalidLocationException("the address of the archive names no file");
    }
  }

  /** A SQLite database in this file. */
  public static ArchiveLocation file(Path file) {
    return new ArchiveLocation(SQLITE + file, null, null);
  }

  /**
   * The database at an address that may leave out {@code jdbc:}.
   *
   * @throws InvalidLocationException if the address is of another kind
   */
  public static ArchiveLocation of(String url, @Nullable String user, @Nullable String password) {
    String full = url.startsWith("jdbc:") ? url : "jdbc:" + url;
    return new ArchiveLocation(full, user, password);
  }

  Kind kind() {
    return url.startsWith(SQLITE)
        ? Kind.SQLITE
        : url.startsWith(POSTGRESQL) ? Kind.POSTGRESQL : Kind.MARIADB;
  }

  /** The file of a SQLite database. */
  Path file() {
    return Path.of(url.substring(SQLITE.length()));
  }

  /** Without its password. */
  @Override
  public String toString() {
    return url.substring("jdbc:".length()) + (user == null ? "" : " as " + user);
  }
}
