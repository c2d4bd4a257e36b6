package io.millrace.jobs;

import io.millrace.blobs.NoSuchBlobException;
import io.millrace.blobs.Value;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Optional;

/** Payloads and results: documents while they are small, blobs when they are not. */
final class Contents {
  private final Ledger ledger;

  Contents(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Where a value lies is known by its size. */
  static boolean isInline(long size) {
    return size <= Value.INLINE_LIMIT;
  }

  static void check(Value value) {
    if (value instanceof Value.Stored stored && isInline(stored.size())) {
      throw new IllegalArgumentException(
          "a stored value has more than " + Value.INLINE_LIMIT + " bytes, not " + stored.size());
    }
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

  Optional<InputStream> result(Job job) {
    Long size = job.content().result();
    if (size == null) {
      return Optional.empty();
    }
    return isInline(size)
        ? document(Keys.result(job.id()))
        : resultBlob(job.id()).flatMap(this::blob);
  }

  /** The name of the blob that holds the result of a job that has one. */
  Optional<String> resultBlob(JobId id) {
    return ledger.document(Keys.result(id)).map(document -> document.body().utf8());
  }

  private Optional<InputStream> document(DocumentKey key) {
    return ledger
        .document(key)
        .map(Document::body)
        .map(body -> new ByteArrayInputStream(body.toArray()));
  }

  private Optional<InputStream> blob(String name) {
    try {
      return Optional.of(ledger.blobs().open(name));
    } catch (NoSuchBlobException _) {
      return Optional.empty();
    }
  }
}
