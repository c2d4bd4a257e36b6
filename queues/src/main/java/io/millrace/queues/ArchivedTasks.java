package io.millrace.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.store.Bytes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Finished tasks that have left the store, as they were then. They are read from blobs, one line
 * after the other: naming tasks reads the few blobs that may hold them, everything else reads all.
 * A task that was queued again while it was archived, or archived twice after a crash, may come
 * here and be in the store too; the store is right then. Safe for use by any number of threads.
 */
public final class ArchivedTasks {
  private static final int ID_DIGITS = 24;
  private static final String ID_FIELD = "\"_id\":\"";

  private final BlobStore blobs;

  private ArchivedTasks(BlobStore blobs) {
    this.blobs = blobs;
  }

  /** Those that {@link Sweeper} has put into {@code blobs}. */
  public static ArchivedTasks in(BlobStore blobs) {
    return new ArchivedTasks(blobs);
  }

  /** Those of these tasks that are archived, by id, as they were archived last. */
  public Map<ObjectId, QueueTask> find(Collection<ObjectId> wanted) {
    NavigableSet<String> missing = new TreeSet<>();
    wanted.forEach(id -> missing.add(id.hex()));
    Map<ObjectId, QueueTask> found = new HashMap<>();
    for (ArchiveFile file : files(true)) {
      if (!missing.isEmpty() && file.mayHold(missing)) {
        lines(
            file,
            line -> {
              if (missing.contains(id(line))) {
                QueueTask task = task(line);
                found.put(task.id(), task);
              }
            });
        found.keySet().forEach(id -> missing.remove(id.hex()));
      }
    }
    return found;
  }

  /**
   * Shows all.
   *
   * @param newestFirst whether the last archived come first; they have about the greatest ids
   * @param look looks at a task
   */
  public void each(boolean newestFirst, Consumer<QueueTask> look) {
    for (ArchiveFile file : files(newestFirst)) {
      lines(file, line -> look.accept(task(line)));
    }
  }

  private List<ArchiveFile> files(boolean newestFirst) {
    Comparator<ArchiveFile> byAge = Comparator.comparing(ArchiveFile::id);
    try (var all = blobs.list(ArchiveFile.PREFIX)) {
      return all.map(blob -> ArchiveFile.of(blob.name()))
          .filter(Objects::nonNull)
          .sorted(newestFirst ? byAge.reversed() : byAge)
          .toList();
    }
  }

  private void lines(ArchiveFile file, Consumer<String> look) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(blobs.open(file.name()), StandardCharsets.UTF_8))) {
      lines.lines().forEach(look);
    } catch (NoSuchBlobException _) {
      // Somebody has removed it since it was listed.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The id in a line, which is its last field. */
  private static String id(String line) {
    int field = line.lastIndexOf(ID_FIELD);
    int from = field + ID_FIELD.length();
    return field < 0 || from + ID_DIGITS > line.length()
        ? ""
        : line.substring(from, from + ID_DIGITS);
  }

  private static QueueTask task(String line) {
    ObjectNode json = Json.read(Bytes.of(line));
    return QueueTask.read(new ObjectId(json.required("_id").asString()), json, 0);
  }

  /**
   * The blob of some archived tasks, by its name, which says between which ids they are.
   *
   * @param name its name
   * @param id of the archiving; later ones are greater
   * @param first the least id of its tasks
   * @param last the greatest
   */
  record ArchiveFile(String name, String id, String first, String last) {
    /** What all names begin with. */
    static final String PREFIX = "queue-archive-";

    private static final String ID = "([0-9a-f]{24})";
    private static final Pattern NAME =
        Pattern.compile(PREFIX + ID + "(?:-" + ID + "-" + ID + ")?\\.jsonl");
    private static final String LEAST = "0".repeat(24);
    private static final String GREATEST = "f".repeat(24);

    /** The name of a new one. */
    static String name(ObjectId id, String first, String last) {
      return PREFIX + id.hex() + "-" + first + "-" + last + ".jsonl";
    }

    /** What a name says; null if it is not that of an archive. One without ids may hold any. */
    static @Nullable ArchiveFile of(String name) {
      Matcher parts = NAME.matcher(name);
      if (!parts.matches()) {
        return null;
      }
      return parts.group(2) == null
          ? new ArchiveFile(name, parts.group(1), LEAST, GREATEST)
          : new ArchiveFile(name, parts.group(1), parts.group(2), parts.group(3));
    }

    /** Whether one of these tasks may be in it. */
    boolean mayHold(NavigableSet<String> tasks) {
      return !tasks.subSet(first, true, last, true).isEmpty();
    }
  }
}
