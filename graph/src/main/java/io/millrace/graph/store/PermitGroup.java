package io.millrace.graph.store;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Sha256;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The permits of the nodes with the same limits.
 *
 * @param takingPlaces whether the nodes are of types that take a place
 * @param limits the names of the limits
 * @param perKey the limit of each key
 */
record PermitGroup(boolean takingPlaces, List<String> limits, Limit perKey) {
  /** Longer lists of names are replaced by their hash in the name of a group. */
  private static final int LONGEST_NAMES = 200;

  private static final String COMMANDS = "commands";
  private static final String OTHERS = "others";
  private static final String KEYS = StorePermits.PREFIX + "keys/";

  private static String kind(boolean takingPlaces) {
    return takingPlaces ? COMMANDS : OTHERS;
  }

  /** The groups to which the limits of a document apply. */
  static List<PermitGroup> read(Document document) {
    Throttling read = Throttling.read(document.key(), document.body());
    List<String> names = read.shared().stream().sorted().toList();
    String key = document.key().key();
    return Throttling.isOfPrefix(document.key())
        ? List.of(
            new PermitGroup(true, names, read.key()), new PermitGroup(false, names, read.key()))
        : List.of(
            new PermitGroup(
                key.startsWith(StorePermits.PREFIX + COMMANDS + "/"), names, read.key()));
  }

  private boolean limitsKeys() {
    return !perKey.equals(Limit.NONE);
  }

  private String names() {
    String names = String.join(",", limits);
    return names.length() > LONGEST_NAMES ? "#" + Sha256.hex(names) : names;
  }

  private String prefix() {
    return KEYS
        + "%d-%d-%d/".formatted(perKey.running(), perKey.starts(), perKey.periodMillis())
        + names()
        + "/";
  }

  String name() {
    return limitsKeys()
        ? prefix() + kind(takingPlaces)
        : StorePermits.PREFIX + kind(takingPlaces) + "/" + names();
  }

  /** The document with its limits. */
  DocumentKey document() {
    return limitsKeys() ? Throttling.ofPrefix(prefix()) : Throttling.ofGroup(name());
  }

  Throttling throttling() {
    return new Throttling(Limit.NONE, perKey, Throttling.AGEING_MILLIS, Map.of(), limits);
  }

  /** The group of the other nodes under the same document; null for none. */
  @Nullable PermitGroup sibling() {
    return limitsKeys() ? new PermitGroup(!takingPlaces, limits, perKey) : null;
  }

  /** Its name below a document of its limits, which another version may have named otherwise. */
  String nameBelow(DocumentKey document) {
    return Throttling.isOfPrefix(document) ? document.key() + kind(takingPlaces) : document.key();
  }
}
