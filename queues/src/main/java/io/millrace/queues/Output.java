package io.millrace.queues;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.ChunkedBlob;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run.Report;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/** What a queue task wrote to one of its streams. */
public sealed interface Output {
  /** No known output: the task has not ended, or its output was not kept. */
  record None() implements Output {}

  /**
   * Text in the task itself.
   *
   * @param text all of it; bytes that are not UTF-8 are replaced
   */
  record Text(String text) implements Output {}

  /**
   * A file in the blob store, see {@link OutputFile}.
   *
   * @param file the id of the file
   * @param sizeBytes its size
   * @param shownAsText whether readers of the task get its text, and not only its id
   * @param chunkPrefix of the file, if its task is archived; the file has no document then. Null if
   *     it has one
   */
  record Stored(ObjectId file, long sizeBytes, boolean shownAsText, @Nullable String chunkPrefix)
      implements Output {
    /** A file with a document. */
    public Stored(ObjectId file, long sizeBytes, boolean shownAsText) {
      this(file, sizeBytes, shownAsText, null);
    }
  }

  /** No output. */
  static Output none() {
    return new None();
  }

  /**
   * An output that is kept as a file: chunks of equal size in the blob store, the last one shorter,
   * and this document, in the manner of GridFS.
   *
   * @param id its id
   * @param task the queue task that wrote it
   * @param name {@code stdout} or {@code stderr}
   * @param sizeBytes the bytes of all chunks
   * @param chunkPrefix the names of the blobs up to their number, which counts from 0
   */
  record OutputFile(ObjectId id, ObjectId task, String name, long sizeBytes, String chunkPrefix) {
    /** The size of all chunks but the last: 255 KiB. */
    public static final int CHUNK_BYTES = 255 << 10;

    /**
     * The chunk names of one stream of one run. The token keeps the runs of a task apart, so that a
     * runner that has lost its claim cannot damage the output of a later run.
     */
    public static String prefix(ObjectId task, long token, String name) {
      return "queue-task-" + task.hex() + "-" + token + "-" + name + "-";
    }

    /** The chunks of one stream of a run that are in {@code blobs}. */
    public static ChunkedBlob content(BlobStore blobs, Run run, OutputReader.Stream stream) {
      String prefix = prefix(run.task(), run.claim().token(), stream.word());
      return new ChunkedBlob(blobs, prefix, CHUNK_BYTES);
    }

    /** Its content, which is in {@code blobs}. */
    public ChunkedBlob content(BlobStore blobs) {
      return new ChunkedBlob(blobs, chunkPrefix, CHUNK_BYTES);
    }

    /** The document of a file. */
    public static Bytes write(OutputFile file) {
      ObjectNode json = Json.object();
      json.put("filename", file.name());
      json.put("length", file.sizeBytes());
      json.put("chunkSize", OutputFile.CHUNK_BYTES);
      json.putObject("metadata").put("task_id", file.task().hex());
      json.put("chunks", file.chunkPrefix());
      return Json.write(json);
    }

    /** Reads the output of {@link #write}. */
    public static OutputFile read(Document document) {
      ObjectNode json = Json.read(document.body());
      return new OutputFile(
          new ObjectId(document.key().key()),
          new ObjectId(json.required("metadata").required("task_id").asString()),
          json.required("filename").asString(),
          json.required("length").asLong(),
          json.required("chunks").asString());
    }
  }

  /**
   * Finds the output that a runner had stored before it was lost. Safe for use by any number of
   * threads.
   */
  public interface OutputRecovery {
    /** Finds no output. */
    OutputRecovery NOTHING =
        (_, reason) -> new Report(Status.ORPHANED, TaskOutput.NONE, List.of(), reason);

    /**
     * For runs whose output is stored in {@code blobs}.
     *
     * @param ids draws ids of files
     */
    static OutputRecovery from(BlobStore blobs, Supplier<ObjectId> ids) {
      return new ChunkRecovery(blobs, ids);
    }

    /**
     * The report on a run that was disrupted, with the output that was stored. If the output cannot
     * be looked up, the report has none, so that the end of a task does not wait for its output.
     *
     * @param run the run as it is recorded, with the claim with which it was lost
     */
    Report report(Run run, String reason);

    /** Finds the chunks of the output of a run. */
    final class ChunkRecovery implements OutputRecovery {
      private static final Logger LOG = LoggerFactory.getLogger(ChunkRecovery.class);

      private final BlobStore blobs;
      private final Supplier<ObjectId> ids;

      ChunkRecovery(BlobStore blobs, Supplier<ObjectId> ids) {
        this.blobs = blobs;
        this.ids = ids;
      }

      @Override
      public Report report(Run run, String reason) {
        try {
          List<OutputFile> files = new ArrayList<>();
          TaskOutput output =
              new TaskOutput(
                  output(run, Stream.STDOUT, files),
                  output(run, Stream.STDERR, files),
                  output(run, Stream.MIXED, files));
          return new Report(Status.ORPHANED, output, files, reason);
        } catch (BlobException e) {
          // If the server is away, the end is not stored either, and this is repeated.
          LOG.warn("the output of task {} cannot be looked for: {}", run.task(), e.toString());
          return NOTHING.report(run, reason);
        }
      }

      private Output output(Run run, Stream stream, List<OutputFile> files) {
        ChunkedBlob stored = OutputFile.content(blobs, run, stream);
        long bytes = stored.size();
        if (bytes == 0) {
          return Output.none();
        }
        OutputFile file =
            new OutputFile(ids.get(), run.task(), stream.word(), bytes, stored.prefix());
        files.add(file);
        return new Output.Stored(file.id(), bytes, true);
      }
    }
  }
}
