package io.millrace.jobs.registry;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveTable;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.store.Bytes;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Jobs that have left the store for the archive.
 *
 * @param archive the archive
 * @param blobs hold large payloads and results
 */
public record ArchivedJobs(Archive archive, BlobStore blobs) {
  /**
   * The job of this GUID, or the one with this key that ended last.
   *
   * @throws io.millrace.archive.ArchiveException if the archive cannot be read
   */
  public Optional<ArchivedJob> find(String idOrKey) {
    return archive
        .find(ArchiveTable.JOBS, idOrKey)
        .or(() -> archive.find(ArchiveTable.JOBS, "job_key", idOrKey))
        .map(row -> new ArchivedJob(row, blobs));
  }

  /** An archived job, by its row. */
  public record ArchivedJob(ArchiveRow row, BlobStore blobs) {
    /** Whether it is done; otherwise it has failed. */
    public boolean isDone() {
      return JobStatus.DONE.word().equals(row.text("status"));
    }

    /** What went wrong at its last failure, for people; null if nothing is known. */
    public @Nullable String info() {
      return ofLastFailure("info");
    }

    /** The code of its last failure; null for none. */
    public @Nullable String failureCode() {
      return ofLastFailure("failureCode");
    }

    private @Nullable String ofLastFailure(String field) {
      String document = row.text("document");
      if (document == null) {
        return null;
      }
      JsonNode failures = Json.read(Bytes.of(document)).path("failedAttempts");
      JsonNode value = failures.path(failures.size() - 1).path(field);
      return value.isString() ? value.asString() : null;
    }

    /** The size of its payload. */
    public long payloadBytes() {
      Long size = row.number("payload_bytes");
      return size == null ? 0 : size;
    }

    /** Its payload; null if it is lost. */
    public @Nullable InputStream payload() {
      return open(row.bytes("payload"), row.id() + JobRegistry.PAYLOAD_SUFFIX);
    }

    /** The size of its result; null if it has none. */
    public @Nullable Long resultBytes() {
      return row.number("result_bytes");
    }

    /** Its result; null if it is lost. */
    public @Nullable InputStream result() {
      return open(row.bytes("result"), row.text("result_blob"));
    }

    private @Nullable InputStream open(byte @Nullable [] bytes, @Nullable String blob) {
      if (bytes != null || blob == null) {
        return new ByteArrayInputStream(bytes == null ? new byte[0] : bytes);
      }
      try {
        return blobs.open(blob);
      } catch (NoSuchBlobException _) {
        return null;
      }
    }
  }
}
