package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The documents in their present state, and in the earlier states that stale listings show. */
final class SimulatedDocuments {
  /** The maximum age of a listing. */
  static final long STALE_MILLIS = 1500;

  /** The state of a document until a change. */
  private record OldState(long untilMillis, String key, @Nullable VersionedDocument document) {}

  private final World world;
  private final TreeMap<String, VersionedDocument> documents = new TreeMap<>();
  private final Deque<OldState> oldStates = new ArrayDeque<>();
  private long versions;
  private PutListener putListener = (key, before, json) -> {};

  /** Is notified of each document that is written. */
  interface PutListener {
    void written(String key, @Nullable VersionedDocument before, String json);
  }

  SimulatedDocuments(World world) {
    this.world = world;
  }

  void onPut(PutListener what) {
    putListener = what;
  }

  Optional<VersionedDocument> get(String key) {
    return Optional.ofNullable(documents.get(key));
  }

  Optional<Version> put(String key, Version expected, String json) {
    if (!versionOf(key).equals(expected)) {
      return Optional.empty();
    }
    putListener.written(key, documents.get(key), json);
    remember(key);
    Version version = new Version(Long.toString(++versions));
    documents.put(key, new VersionedDocument(key, version, json));
    return Optional.of(version);
  }

  boolean delete(String key, Version expected) {
    if (expected.equals(Version.NONE) || !versionOf(key).equals(expected)) {
      return false;
    }
    remember(key);
    documents.remove(key);
    return true;
  }

  private Version versionOf(String key) {
    return get(key).map(VersionedDocument::version).orElse(Version.NONE);
  }

  private void remember(String key) {
    oldStates.addLast(new OldState(world.now(), key, documents.get(key)));
    while (oldStates.getFirst().untilMillis < world.now() - STALE_MILLIS) {
      oldStates.removeFirst();
    }
  }

  /** The documents as they were some time ago. */
  List<VersionedDocument> list(String prefix, long ageMillis) {
    TreeMap<String, VersionedDocument> then =
        new TreeMap<>(documents.subMap(prefix, prefix + Character.MAX_VALUE));
    Iterator<OldState> changes = oldStates.descendingIterator();
    while (changes.hasNext()) {
      OldState change = changes.next();
      if (change.untilMillis < world.now() - ageMillis) {
        break;
      }
      if (change.key.startsWith(prefix)) {
        then.remove(change.key);
        if (change.document != null) {
          then.put(change.key, change.document);
        }
      }
    }
    return new ArrayList<>(then.values());
  }

  @Override
  public String toString() {
    return documents.values().toString();
  }
}
