package io.millrace.server.archive;

import io.millrace.archive.Archive;
import io.millrace.database.DatabaseAddress;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Configuration.Values;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the archive.
 *
 * @param url the address of its database; null for a file within the data folder
 * @param user the name under which to sign in; null for none
 * @param password its password; null for none
 * @param keep how long items stay in the archive; null for ever
 */
public record ArchiveSettings(
    @Nullable String url,
    @Nullable String user,
    @Nullable String password,
    @Nullable Duration keep) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<@Nullable String> URL =
      KEYS.optionalText(
          "url",
          "The database of the archive: `sqlite:FILE`, `postgresql://HOST/DATABASE` or"
              + " `mariadb://HOST/DATABASE`; see [archive.md](archive.md). If none is given, the"
              + " file `archive.db` within `store.data`.");
  private static final Key<@Nullable String> USER =
      KEYS.optionalText("user", "The user of the database.");
  private static final Key<@Nullable String> PASSWORD =
      KEYS.secret("password", "password-file", "The password of that user.");
  private static final Key<@Nullable Path> PASSWORD_FILE =
      KEYS.optionalPath(
          "password-file", "A file with that password alone, instead of `archive.password`.");
  private static final Key<@Nullable Duration> KEEP =
      KEYS.optionalDuration(
          "keep",
          Duration.ofMinutes(1),
          Duration.ofDays(36_500),
          "for ever",
          "How long an item stays in the archive after it has finished.");

  /** The section {@code archive}. */
  public static final Section<ArchiveSettings> SECTION =
      KEYS.section("archive", ArchiveSettings::of);

  private static ArchiveSettings of(Values values) {
    ArchiveSettings settings =
        new ArchiveSettings(
            values.get(URL),
            values.get(USER),
            SectionKeys.secretOf(values, "archive", PASSWORD, PASSWORD_FILE),
            values.get(KEEP));
    try {
      DatabaseAddress _ = settings.location(Path.of("."));
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException("archive.url: " + e.getMessage());
    }
    return settings;
  }

  /** The archive, of which nothing is opened yet; {@code store} is the folder of the store. */
  public Archive open(Path store) {
    return Archive.at(location(store));
  }

  private DatabaseAddress location(Path store) {
    return url == null
        ? DatabaseAddress.file(store.resolve("archive.db"))
        : new DatabaseAddress(url.startsWith("jdbc:") ? url : "jdbc:" + url, user, password);
  }

  /** Without its password. */
  @Override
  public String toString() {
    return "ArchiveSettings[url=" + url + ", user=" + user + ", keep=" + keep + "]";
  }
}
