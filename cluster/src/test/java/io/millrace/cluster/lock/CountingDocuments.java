package io.millrace.cluster.lock;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Documents that record which keys are read and which prefixes are listed. */
public final class CountingDocuments implements VersionedDocuments {
  private final VersionedDocuments documents;
  private final List<String> read = new ArrayList<>();
  private @Nullable List<VersionedDocument> old;

  /** Wraps documents; nothing is recorded yet. */
  public CountingDocuments(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The keys that were read since the last call, and the prefixes that were listed. */
  public List<String> takeRead() {
    List<String> keys = List.copyOf(read);
    read.clear();
    return keys;
  }

  /** Makes all later listings return the present one. */
  public void freeze(String prefix) {
    old = documents.list(prefix);
  }

  @Override
  public Optional<VersionedDocument> get(String key) {
    read.add(key);
    return documents.get(key);
  }

  @Override
  public Optional<Version> put(String key, Version expected, String json) {
    return documents.put(key, expected, json);
  }

  @Override
  public boolean delete(String key, Version expected) {
    return documents.delete(key, expected);
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    read.add(prefix);
    return old == null ? documents.list(prefix) : old;
  }

  @Override
  public long listingAgeMillis() {
    return old == null ? 0 : 1000;
  }

  @Override
  public void close() {
    documents.close();
  }
}
