package io.millrace.jobs.registry;

import io.millrace.blobs.NoSuchBlobException;
import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URI;
import java.util.Optional;

/** Payloads and results: documents while they are small, blobs when they are not. */
final class Contents {
  private final JobStore store;

  Contents(JobStore store) {
    this.store = store;
  }

  /** Whether a value of this size is kept as a document, not as a blob. */
  static boolean isInline(long size) {
    return size <= Value.INLINE_LIMIT;
  }

  /** What the document of a result holds: its bytes, or the name of its blob. */
  static Bytes body(Value result) {
    return switch (result) {
      case Value.Inline inline -> Bytes.copyOf(inline.bytes());
      case Value.Stored(String name, long _) -> Bytes.of(name);
    };
  }

  Optional<InputStream> payload(Job job) {
    return isInline(job.content().payload())
        ? document(Keys.payload(job.id()))
        : blob(JobRegistry.payloadName(job.id()));
  }

  /** The payload as it is kept. */
  Value payloadValue(Job job) {
    long size = job.content().payload();
    return isInline(size)
        ? new Value.Inline(
            store
                .document(Keys.payload(job.id()))
                .map(document -> document.body().toArray())
                .orElse(new byte[0]))
        : new Value.Stored(JobRegistry.payloadName(job.id()), size);
  }

  Optional<InputStream> result(Job job) {
    Long size = job.content().result();
    if (size == null) {
      return Optional.empty();
    }
    return isInline(size)
        ? document(Keys.result(job.id()))
        : resultBlob(job.id()).flatMap(this::blob);
  }

  /** Where everybody can read the payload for a while; empty if it is no blob with a link. */
  Optional<URI> payloadLink(Job job) {
    return isInline(job.content().payload())
        ? Optional.empty()
        : store.blobs().publicLink(JobRegistry.payloadName(job.id()));
  }

  /** Where everybody can read the result for a while; empty if it is no blob with a link. */
  Optional<URI> resultLink(Job job) {
    Long size = job.content().result();
    return size == null || isInline(size)
        ? Optional.empty()
        : resultBlob(job.id()).flatMap(store.blobs()::publicLink);
  }

  /** The name of the blob that holds the result of a job that has one. */
  Optional<String> resultBlob(JobId id) {
    return store.document(Keys.result(id)).map(document -> document.body().utf8());
  }

  private Optional<InputStream> document(DocumentKey key) {
    return store
        .document(key)
        .map(Document::body)
        .map(body -> new ByteArrayInputStream(body.toArray()));
  }

  private Optional<InputStream> blob(String name) {
    try {
      return Optional.of(store.blobs().open(name));
    } catch (NoSuchBlobException _) {
      return Optional.empty();
    }
  }
}
