package io.millrace.cli.store;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.Configuration.Flag;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.journal.files.JournalCheck;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * A store where it is kept, named by a URL.
 *
 * @param name the URL, or the folder as it was given
 * @param backup the file of a backup; null for a folder or a database
 * @param settings those of the folder or database; null for a backup
 */
record KeptStore(String name, @Nullable Path backup, @Nullable StoreSettings settings) {
  private static final String BACKUP = "backup:";
  private static final String FOLDER = "file:";

  /** The store to read. */
  JournalCheck.Source source() {
    if (settings == null) {
      return JournalCheck.backup(Objects.requireNonNull(backup));
    }
    return settings.kept();
  }

  /** The place to write, which is no backup. */
  JournalCheck.Place place() {
    if (settings == null) {
      throw new UsageException("a store is not restored to a backup: " + name);
    }
    return settings.kept();
  }

  /** The file of a backup, given as {@code FILE} or by an option, with or without "backup:". */
  static Path file(@Nullable String parameter, String option, @Nullable String value) {
    String given = parameter == null ? value : parameter;
    if (given == null || (parameter != null && value != null)) {
      throw new UsageException("name the file of the backup, either as FILE or with " + option);
    }
    return Path.of(given.startsWith(BACKUP) ? given.substring(BACKUP.length()) : given);
  }

  private static KeptStore folder(Path folder) {
    return of("--data", FOLDER + folder, folder.toString(), List.of());
  }

  private static KeptStore of(String option, String url, String name, List<Flag> more) {
    if (url.startsWith(BACKUP)) {
      return new KeptStore(name, Path.of(url.substring(BACKUP.length())), null);
    }
    if (!StoreSettings.isAddress(url)) {
      throw new UsageException(
          "%s begins with 'backup:', %s: %s".formatted(option, StoreSettings.FORMS, url));
    }
    List<Flag> flags = new ArrayList<>(more);
    flags.add(new Flag("store.url", url, option));
    return new KeptStore(
        name,
        null,
        Configuration.read(List.of(StoreSettings.SECTION), null, flags).get(StoreSettings.SECTION));
  }

  /** The settings of one side, with the password of the environment if none is given. */
  private static List<Flag> flags(String option, Map<String, String> given, String variable) {
    List<Flag> flags = new ArrayList<>();
    given.forEach((key, value) -> flags.add(new Flag("store." + key, value, option + " " + key)));
    String password = System.getenv(variable);
    if (password != null && !given.containsKey("password") && !given.containsKey("password-file")) {
      flags.add(new Flag("store.password", password, variable));
    }
    return flags;
  }

  /** The options of the store that is read. */
  static final class From {
    private static final String VARIABLE = "MILLRACE_FROM_PASSWORD";

    @Option(
        names = "--from",
        paramLabel = "URL",
        description =
            "The store to read: file:DIR, the address of a database as 'millrace up --store' takes"
                + " it, or backup:FILE. Servers may work on it.")
    private @Nullable String url;

    @Option(
        names = "--from-set",
        paramLabel = "KEY=VALUE",
        description =
            "A setting 'store.KEY' for it, for example user=millrace, password-file=FILE or"
                + " name=STORE; can be repeated. The password may also be in the environment"
                + " variable "
                + VARIABLE
                + ".")
    private Map<String, String> settings = new LinkedHashMap<>();

    /** The store of {@code --from} or {@code --data}; null for neither. */
    @Nullable KeptStore store(@Nullable Path folder, boolean server) {
      if (url == null) {
        return folder == null ? null : existing(folder);
      }
      if (folder != null || server) {
        throw new UsageException("--from cannot be combined with --data or --server");
      }
      return of("--from", url, url, flags("--from-set", settings, VARIABLE));
    }

    /**
     * The same, or the store in a folder.
     *
     * @param other the folder if neither is given; null to require {@code --from}
     */
    KeptStore storeOr(@Nullable Path folder, @Nullable Path other) {
      KeptStore named = store(folder, false);
      if (named == null && other == null) {
        throw new UsageException("--from is missing: the store to read");
      }
      return named != null ? named : existing(Objects.requireNonNull(other));
    }

    private static KeptStore existing(Path folder) {
      if (!Files.isDirectory(folder)) {
        throw new CommandException(ExitCode.FAILURE, "there is no folder " + folder);
      }
      return KeptStore.folder(folder);
    }
  }

  /** The options of the store that is written. */
  static final class To {
    private static final String VARIABLE = "MILLRACE_TO_PASSWORD";

    @Option(
        names = "--to",
        paramLabel = "URL",
        description = "Where to write: file:DIR or the address of a database.")
    private @Nullable String url;

    @Option(
        names = "--to-set",
        paramLabel = "KEY=VALUE",
        description =
            "A setting 'store.KEY' for it, as --from-set; the environment variable is "
                + VARIABLE
                + ".")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
        names = "--force",
        description =
            "Replaces a store that is there and that no server leads. Other files of a folder"
                + " stay.")
    private boolean force;

    /** Whether a store that is there is replaced. */
    boolean replaces() {
      return force;
    }

    /** The place of {@code --to} or {@code --data}. */
    KeptStore store(@Nullable Path folder) {
      if ((url == null) == (folder == null)) {
        throw new UsageException("say once where the store is to be written, with --to");
      }
      return url == null
          ? KeptStore.folder(Objects.requireNonNull(folder))
          : of("--to", url, url, flags("--to-set", settings, VARIABLE));
    }
  }
}
