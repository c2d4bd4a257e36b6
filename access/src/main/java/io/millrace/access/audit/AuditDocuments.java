package io.millrace.access.audit;

import com.fasterxml.jackson.annotation.JsonInclude.Include;
import io.millrace.access.audit.AuditEntry.Origin;
import io.millrace.access.audit.AuditEntry.Result;
import io.millrace.access.audit.AuditLog.Found;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The documents of the audit log: each holds one entry or several. Its key begins with the time at
 * which it was written, in 13 digits; the id of an entry is that key and its number.
 */
final class AuditDocuments {
  /** A collection of {@code /access}, which nothing else reads or changes. */
  static final String COLLECTION = "access.audit";

  /** What a document takes besides its key and body, about. */
  private static final int OVERHEAD_BYTES = 100;

  private static final Logger LOG = LoggerFactory.getLogger(AuditDocuments.class);
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .changeDefaultPropertyInclusion(each -> each.withValueInclusion(Include.NON_NULL))
          .build();

  private AuditDocuments() {}

  private record Stored(List<StoredEntry> entries) {}

  private record StoredEntry(
      long time,
      @Nullable Long until,
      String principal,
      @Nullable String key,
      String address,
      String api,
      String action,
      @Nullable String area,
      @Nullable String scope,
      Result result,
      int status,
      long count,
      @Nullable String first,
      @Nullable String last) {
    static StoredEntry of(AuditEntry entry) {
      Origin origin = entry.origin();
      return new StoredEntry(
          entry.time().toEpochMilli(),
          entry.until().equals(entry.time()) ? null : entry.until().toEpochMilli(),
          origin.principal(),
          origin.key(),
          origin.address(),
          origin.api(),
          origin.action(),
          origin.area(),
          origin.scope().isEmpty() ? null : origin.scope(),
          origin.result(),
          origin.status(),
          entry.count(),
          entry.first(),
          entry.last());
    }

    AuditEntry entry() {
      return new AuditEntry(
          Instant.ofEpochMilli(time),
          Instant.ofEpochMilli(until == null ? time : until),
          new Origin(
              principal,
              key,
              address,
              api,
              action,
              area,
              scope == null ? "" : scope,
              result,
              status),
          count,
          first,
          last);
    }
  }

  /** The body of a document with entries. */
  static Bytes write(List<AuditEntry> entries) {
    Stored stored = new Stored(entries.stream().map(StoredEntry::of).toList());
    return Bytes.copyOf(MAPPER.writeValueAsBytes(stored));
  }

  /** The entries of a document; none if it is damaged. */
  static List<Found> read(Document document) {
    List<StoredEntry> stored;
    try {
      stored = MAPPER.readValue(document.body().toArray(), Stored.class).entries();
    } catch (JacksonException e) {
      LOG.warn("the {} cannot be read: {}", document.key(), e.getMessage());
      return List.of();
    }
    List<Found> entries = new ArrayList<>();
    for (StoredEntry each : stored) {
      entries.add(
          new Found("%s.%03d".formatted(document.key().key(), entries.size()), each.entry()));
    }
    return entries;
  }

  /** What the keys of documents of this time and later ones are greater than. */
  static String keyAt(long millis) {
    return "%013d".formatted(Math.max(0, millis));
  }

  /** The time of a document or an entry, by its key or id; 0 if it is malformed. */
  static long millisOf(String key) {
    try {
      return Long.parseLong(key.substring(0, Math.min(13, key.length())));
    } catch (NumberFormatException _) {
      return 0;
    }
  }

  /** The memory that a document takes, about. */
  static long bytes(DocumentKey key, Bytes body) {
    return (long) OVERHEAD_BYTES + key.key().length() + body.size();
  }
}
