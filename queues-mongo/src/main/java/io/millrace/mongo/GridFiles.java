package io.millrace.mongo;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Sorts;
import io.millrace.blobs.Tail;
import io.millrace.queues.ObjectId;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bson.Document;
import org.bson.types.Binary;

/**
 * Outputs in {@code tasks.files} and {@code tasks.chunks}: GridFS, but with strings for chunks, as
 * Disbatch writes it. A chunk has at most 255 KiB of UTF-8 and ends at the end of a character; a
 * chunk of binary data is read as well. Safe for use by any number of threads.
 */
final class GridFiles {
  static final int CHUNK_BYTES = 255 << 10;

  private final MongoConnection connection;

  GridFiles(MongoConnection connection) {
    this.connection = connection;
  }

  private MongoCollection<Document> files() {
    return connection.collection("tasks.files");
  }

  private MongoCollection<Document> chunks() {
    return connection.collection("tasks.chunks");
  }

  /**
   * Stores a file, or stores it again after its answer was lost. Bytes that are not UTF-8 are
   * replaced.
   *
   * @param name {@code stdout} or {@code stderr}
   */
  void store(ObjectId id, ObjectId task, String name, InputStream content) {
    org.bson.types.ObjectId file = BsonForm.id(id);
    connection.call(() -> chunks().deleteMany(Filters.eq("files_id", file)));
    long length = 0;
    int number = 0;
    try (Reader reader = new InputStreamReader(content, StandardCharsets.UTF_8)) {
      // No character has more than three bytes for each of its UTF-16 units.
      char[] buffer = new char[CHUNK_BYTES / 3];
      int kept = 0;
      boolean ended = false;
      while (!ended) {
        int read = reader.read(buffer, kept, buffer.length - kept);
        ended = read < 0;
        int filled = kept + Math.max(0, read);
        if (!ended && filled < buffer.length) {
          kept = filled;
          continue;
        }
        boolean split = !ended && Character.isHighSurrogate(buffer[filled - 1]);
        int whole = split ? filled - 1 : filled;
        if (whole > 0) {
          String data = new String(buffer, 0, whole);
          length += data.getBytes(StandardCharsets.UTF_8).length;
          Document chunk =
              new Document("files_id", file).append("n", number++).append("data", data);
          connection.call(() -> chunks().insertOne(chunk));
        }
        kept = filled - whole;
        System.arraycopy(buffer, whole, buffer, 0, kept);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Document entry =
        new Document("_id", file)
            .append("filename", name)
            .append("length", length)
            .append("chunkSize", CHUNK_BYTES)
            .append("uploadDate", Date.from(Instant.now()))
            .append("metadata", new Document("task_id", BsonForm.id(task)));
    connection.call(
        () -> files().replaceOne(Filters.eq(file), entry, new ReplaceOptions().upsert(true)));
  }

  /** Deletes files, which need not exist. */
  void delete(Collection<ObjectId> ids) {
    if (ids.isEmpty()) {
      return;
    }
    List<org.bson.types.ObjectId> all = BsonForm.ids(ids);
    connection.call(() -> files().deleteMany(Filters.in("_id", all)));
    connection.call(() -> chunks().deleteMany(Filters.in("files_id", all)));
  }

  /** The lengths of files as they are recorded; those that do not exist are left out. */
  Map<ObjectId, Long> lengths(Collection<ObjectId> ids) {
    Map<ObjectId, Long> lengths = new HashMap<>();
    if (!ids.isEmpty()) {
      connection.call(() -> {
        for (Document file : files().find(Filters.in("_id", BsonForm.ids(ids)))) {
          if (file.get("_id") instanceof org.bson.types.ObjectId id) {
            Long length = BsonForm.number(file, "length");
            lengths.put(BsonForm.id(id), length == null ? 0 : length);
          }
        }
        return lengths;
      });
    }
    return lengths;
  }

  /** The content of a file; empty if it does not exist. */
  Optional<Tail> read(ObjectId id) {
    Document file = connection.call(() -> files().find(Filters.eq(BsonForm.id(id))).first());
    return Optional.ofNullable(file).map(_ -> new Content(BsonForm.id(id)));
  }

  /**
   * The content of a file. Its chunks may have any size, and the recorded length may count
   * characters, so it is read from its start, and on from where it was read last.
   */
  private final class Content implements Tail {
    private final org.bson.types.ObjectId file;
    private byte[] chunk = new byte[0];
    private long chunkStart;
    private int next;

    Content(org.bson.types.ObjectId file) {
      this.file = file;
    }

    @Override
    public synchronized long size() {
      while (advance()) {
        // Until the last chunk is the current one.
      }
      return chunkStart + chunk.length;
    }

    @Override
    public synchronized byte[] read(long offset, int most) {
      if (offset < chunkStart) {
        chunk = new byte[0];
        chunkStart = 0;
        next = 0;
      }
      byte[] found = new byte[Math.min(most, 64 << 10)];
      int filled = 0;
      while (filled < most) {
        long within = offset + filled - chunkStart;
        if (within >= chunk.length) {
          if (!advance()) {
            break;
          }
          continue;
        }
        int part = (int) Math.min(most - filled, chunk.length - within);
        if (filled + part > found.length) {
          found = Arrays.copyOf(found, (int) Math.min(most, 2L * (filled + part)));
        }
        System.arraycopy(chunk, (int) within, found, filled, part);
        filled += part;
      }
      return filled == found.length ? found : Arrays.copyOf(found, filled);
    }

    /** Goes on to the next chunk; returns whether there is one. */
    private boolean advance() {
      Document found =
          connection.call(() -> {
            try (MongoCursor<Document> cursor =
                chunks()
                    .find(Filters.and(Filters.eq("files_id", file), Filters.gte("n", next)))
                    .sort(Sorts.ascending("n"))
                    .limit(1)
                    .iterator()) {
              return cursor.hasNext() ? cursor.next() : new Document();
            }
          });
      Long number = BsonForm.number(found, "n");
      if (number == null) {
        return false;
      }
      chunkStart += chunk.length;
      chunk =
          switch (found.get("data")) {
            case Binary binary -> binary.getData();
            case String text -> text.getBytes(StandardCharsets.UTF_8);
            case null, default -> new byte[0];
          };
      next = Math.toIntExact(number) + 1;
      return true;
    }
  }
}
