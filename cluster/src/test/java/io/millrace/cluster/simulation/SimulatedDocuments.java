package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The documents as they truly are, and as listings may still show them. */
final class SimulatedDocuments {
  /** Listings are at most so old. */
  static final long STALE_MILLIS = 1500;

  private record Past(long untilMillis, List<VersionedDocument> documents) {}

  private final World world;
  private final TreeMap<String, VersionedDocument> documents = new TreeMap<>();
  private final Deque<Past> past = new ArrayDeque<>();
  private long versions;

  SimulatedDocuments(World world) {
    this.world = world;
  }

  Optional<VersionedDocument> get(String key) {
    return Optional.ofNullable(documents.get(key));
  }

  Optional<Version> put(String key, Version expected, String json) {
    if (!versionOf(key).equals(expected)) {
      return Optional.empty();
    }
    remember();
    Version version = new Version(Long.toString(++versions));
    documents.put(key, new VersionedDocument(key, version, json));
    return Optional.of(version);
  }

  boolean delete(String key, Version expected) {
    if (expected.equals(Version.NONE) || !versionOf(key).equals(expected)) {
      return false;
    }
    remember();
    documents.remove(key);
    return true;
  }

  private Version versionOf(String key) {
    return get(key).map(VersionedDocument::version).orElse(Version.NONE);
  }

  private void remember() {
    past.addLast(new Past(world.now(), List.copyOf(documents.values())));
    while (past.getFirst().untilMillis < world.now() - STALE_MILLIS) {
      past.removeFirst();
    }
  }

  /** The documents as they stood so long ago. */
  List<VersionedDocument> list(String prefix, long ageMillis) {
    List<VersionedDocument> then = new ArrayList<>(documents.values());
    for (Past state : past) {
      if (state.untilMillis >= world.now() - ageMillis) {
        then = new ArrayList<>(state.documents);
        break;
      }
    }
    then.removeIf(document -> !document.key().startsWith(prefix));
    return then;
  }
}
