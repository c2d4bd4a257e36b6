package io.millrace.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Finished tasks that have left the store, as they were then. They are kept in blobs, a line of
 * JSON for each task: looking up tasks by id reads the few blobs that may hold them, everything
 * else reads all. A task that was queued again while it was archived, or archived twice after a
 * crash, may be here and in the store too; the store is right then. Safe for use by any number of
 * threads.
 */
public final class Archive {
  private static final int AT_ONCE = 1_000;
  private static final int ID_DIGITS = 24;
  private static final String ID_FIELD = "\"_id\":\"";

  private final BlobStore blobs;

  private Archive(BlobStore blobs) {
    this.blobs = blobs;
  }

  /** The archive that {@link Sweeper} writes to {@code blobs}. */
  public static Archive in(BlobStore blobs) {
    return new Archive(blobs);
  }

  /** Those of these tasks that are archived, by id, in their latest archived form. */
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
   * Passes on all archived tasks.
   *
   * @param newestFirst whether the tasks that were archived last come first; they have about the
   *     greatest ids
   * @param look takes a task
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
   * Moves up to a thousand tasks of each queue that finished before {@code limitMillis} out of the
   * store: it writes a blob with a line of JSON for each, and then removes them. A crash in between
   * leaves a task in both places, and loses none.
   */
  void move(QueueSession session, long limitMillis) {
    for (GroupSummary group : session.store().groups().value()) {
      if (Queue.isFinishedGroup(group.name())) {
        List<Task> oldest =
            session.store().group(GroupQuery.waiting(group.name()).withLimit(AT_ONCE)).value();
        move(session, oldest, limitMillis);
      }
    }
  }

  private void move(QueueSession session, List<Task> kernelTasks, long limitMillis) {
    List<Entry> entries = new ArrayList<>();
    for (Task kernel : kernelTasks) {
      Optional<Document> found = session.document(Keys.task(new ObjectId(kernel.data().utf8())));
      if (found.isEmpty() || QueueTask.read(found.get()).progress().mtimeMillis() >= limitMillis) {
        break;
      }
      entries.add(new Entry(kernel, found.get()));
    }
    if (entries.isEmpty()) {
      return;
    }
    List<String> ids =
        entries.stream().map(entry -> entry.document().key().key()).sorted().toList();
    String name = ArchiveFile.name(session.newId(), ids.getFirst(), ids.getLast());
    blobs.put(name, new ByteArrayInputStream(lines(entries)));
    for (Entry entry : entries) {
      remove(session, entry);
    }
  }

  private record Entry(Task kernel, Document document) {}

  private static byte[] lines(List<Entry> entries) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (Entry entry : entries) {
      var json = Json.read(entry.document().body());
      json.put("_id", entry.document().key().key());
      lines.writeBytes(Json.write(json).toArray());
      lines.write('\n');
    }
    return lines.toByteArray();
  }

  /**
   * Removes a task unless it was queued again meanwhile. Its output stays where the archive refers
   * to it.
   */
  private static void remove(QueueSession session, Entry entry) {
    session.tryCommit(
        session
            .begin()
            .delete(entry.kernel().ref())
            .delete(entry.document().key(), entry.document().version())
            .build());
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

    /** The name of a new blob. */
    static String name(ObjectId id, String first, String last) {
      return PREFIX + id.hex() + "-" + first + "-" + last + ".jsonl";
    }

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
