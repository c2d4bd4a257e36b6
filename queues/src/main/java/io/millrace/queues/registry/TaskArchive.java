package io.millrace.queues.registry;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveQuery;
import io.millrace.archive.ArchiveQuery.Condition;
import io.millrace.archive.ArchiveQuery.Condition.OneOf;
import io.millrace.archive.ArchiveQuery.Cursor;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveTable;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.queues.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueTask;
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
 * Finished tasks that have left the store, as they were then: rows of the archive, and files of
 * earlier versions in the blob store, with a line of JSON for each task. A task that was queued
 * again while it was archived may be here and in the store too; the store is right then. Safe for
 * use by any number of threads.
 */
public final class TaskArchive {
  /** Few, since a task may have a megabyte of params. */
  private static final int PAGE = 100;

  private static final int ID_DIGITS = 24;
  private static final String ID_FIELD = "\"_id\":\"";

  private final Archive archive;
  private final BlobStore blobs;

  /** Once there are no files, there never will be any. */
  private volatile boolean hasFiles = true;

  /**
   * The tasks in {@code archive}, and those in files that earlier versions left in {@code blobs}.
   */
  public TaskArchive(Archive archive, BlobStore blobs) {
    this.archive = archive;
    this.blobs = blobs;
  }

  /** Those of these tasks that are archived, by id, in their latest archived form. */
  public Map<ObjectId, QueueTask> find(Collection<ObjectId> wanted) {
    NavigableSet<String> missing = new TreeSet<>();
    wanted.forEach(id -> missing.add(id.hex()));
    Map<ObjectId, QueueTask> found = new HashMap<>();
    List<String> ids = List.copyOf(missing);
    for (int from = 0; from < ids.size(); from += PAGE) {
      List<String> some = ids.subList(from, Math.min(ids.size(), from + PAGE));
      ArchiveQuery query = ArchiveQuery.newest(ArchiveTable.TASKS, PAGE);
      for (ArchiveRow row : archive.list(query.where(new OneOf(ArchiveTable.ID, some)))) {
        QueueTask task = task(row);
        found.put(task.id(), task);
        missing.remove(row.id());
      }
    }
    for (ArchiveFile file : missing.isEmpty() ? List.<ArchiveFile>of() : files(true)) {
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
   * Passes on all archived tasks that may be wanted.
   *
   * @param conditions on the columns of the archive; those that do not match them may be passed on
   *     too
   * @param newestFirst whether the tasks that were archived last come first; they have about the
   *     greatest ids
   * @param look takes a task
   */
  public void each(List<Condition> conditions, boolean newestFirst, Consumer<QueueTask> look) {
    ArchiveQuery query = new ArchiveQuery(ArchiveTable.TASKS, conditions, newestFirst, null, PAGE);
    if (!newestFirst) {
      eachOfFiles(newestFirst, look);
    }
    List<ArchiveRow> page;
    do {
      page = archive.list(query);
      page.forEach(row -> look.accept(task(row)));
      query = page.isEmpty() ? query : query.after(Cursor.of(page.getLast()));
    } while (page.size() == PAGE);
    if (newestFirst) {
      eachOfFiles(newestFirst, look);
    }
  }

  private void eachOfFiles(boolean newestFirst, Consumer<QueueTask> look) {
    for (ArchiveFile file : files(newestFirst)) {
      lines(file, line -> look.accept(task(line)));
    }
  }

  private static QueueTask task(ArchiveRow row) {
    ObjectNode json = Json.read(Bytes.of(Objects.requireNonNull(row.text("document"))));
    return QueueTask.read(new ObjectId(row.id()), json, 0);
  }

  private List<ArchiveFile> files(boolean newestFirst) {
    if (!hasFiles) {
      return List.of();
    }
    Comparator<ArchiveFile> byAge = Comparator.comparing(ArchiveFile::id);
    try (var all = blobs.list(ArchiveFile.PREFIX)) {
      List<ArchiveFile> files =
          all.map(blob -> ArchiveFile.of(blob.name()))
              .filter(Objects::nonNull)
              .sorted(newestFirst ? byAge.reversed() : byAge)
              .toList();
      hasFiles = !files.isEmpty();
      return files;
    }
  }

  private void lines(ArchiveFile file, Consumer<String> look) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(blobs.open(file.name()), StandardCharsets.UTF_8))) {
      lines.lines().forEach(look);
    } catch (NoSuchBlobException _) {
      // It was removed after it had been listed.
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
   * A blob of archived tasks.
   *
   * @param name its name, which contains the other fields
   * @param id the id of the archiving; later ones are greater
   * @param first the least id of its tasks
   * @param last the greatest id of its tasks
   */
  private record ArchiveFile(String name, String id, String first, String last) {
    /** The common prefix of all names. */
    static final String PREFIX = "queue-archive-";

    private static final String ID = "([0-9a-f]{24})";
    private static final Pattern NAME =
        Pattern.compile(PREFIX + ID + "(?:-" + ID + "-" + ID + ")?\\.jsonl");
    private static final String LEAST = "0".repeat(24);
    private static final String GREATEST = "f".repeat(24);

    /**
     * Parses a name; null if it is not the name of an archive. A name without ids may hold any
     * tasks.
     */
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
