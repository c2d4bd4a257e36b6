package io.millrace.cluster.remote;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.Keys;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The items of one backlog, each in a document of its own. All methods are idempotent, and may be
 * called again after an exception. Safe for use by any number of threads.
 *
 * <p>The key of an item is {@code backlog/NAME/ITEM} with the item in base64url, or {@code ~} and
 * its SHA-256 in hexadecimal if that would be too long for a key. Its content is {@code {"item":
 * NAME, "state": "given", "attempts": N, "fence": N}}.
 *
 * <pre>
 *               take                    commit
 *   waiting ──────────► given to a member ────► done, for good
 *      ▲                      │  │                ▲
 *      └──────────────────────┘  └────────────────┘ commit, in any state
 *        reEnqueue; or its leader is replaced, and none of its lambdas is left
 * </pre>
 */
public final class BacklogItems {
  private static final Logger LOG = LoggerFactory.getLogger(BacklogItems.class);
  private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,64}");
  private static final int MAX_CHARS = 10_000;

  private final VersionedDocuments documents;
  private final String prefix;

  /**
   * The items of a backlog.
   *
   * @throws IllegalArgumentException if the name is invalid
   */
  public BacklogItems(VersionedDocuments documents, String backlog) {
    if (!NAME.matcher(backlog).matches()) {
      throw new IllegalArgumentException(
          "the name of a backlog has 1 to 64 of a to z, 0 to 9, - and _, not '" + backlog + "'");
    }
    this.documents = documents;
    this.prefix = "backlog/" + backlog + "/";
  }

  /** The state of an item. */
  enum State {
    /** Not given out. */
    WAITING,
    /** Given to a member. */
    GIVEN,
    /** Done; final. */
    DONE
  }

  /**
   * An item, as in its document.
   *
   * @param name the item itself
   * @param state its state
   * @param attempts the number of times it was given out
   * @param fence the fence of the leader that gave it out last; 0 for none
   * @param version the version of the document
   */
  record Item(String name, State state, int attempts, long fence, Version version) {
    static Item fresh(String name) {
      return new Item(name, State.WAITING, 0, 0, Version.NONE);
    }

    Item given(long leader) {
      return new Item(name, State.GIVEN, attempts + 1, leader, version);
    }

    Item with(State next) {
      return new Item(name, next, attempts, fence, version);
    }

    private String json() {
      return DocumentJson.object()
          .put("item", name)
          .put("state", state.name().toLowerCase(Locale.ROOT))
          .put("attempts", attempts)
          .put("fence", fence)
          .toString();
    }

    private static Item read(VersionedDocument document) {
      return DocumentJson.read(
          document,
          "is not an item of a backlog",
          json ->
              new Item(
                  json.path("item").asString(""),
                  State.valueOf(json.path("state").asString("").toUpperCase(Locale.ROOT)),
                  json.path("attempts").asInt(0),
                  json.path("fence").asLong(0),
                  document.version()));
    }
  }

  /**
   * All items, from a listing that may be slightly stale. Damaged documents are logged and left
   * out.
   */
  List<Item> list() {
    List<Item> items = new ArrayList<>();
    for (VersionedDocument document : documents.list(prefix)) {
      try {
        items.add(Item.read(document));
      } catch (ClusterException e) {
        LOG.warn("{}", e.getMessage());
      }
    }
    return items;
  }

  /** The number of items that are not done. */
  public int outstanding() {
    return (int) list().stream().filter(item -> item.state() != State.DONE).count();
  }

  /** Adds unknown items as waiting. */
  public void add(Collection<String> names) {
    Set<String> fresh = new HashSet<>(names);
    fresh.forEach(this::key);
    list().forEach(item -> fresh.remove(item.name()));
    for (String name : names.stream().filter(fresh::contains).distinct().toList()) {
      // If another member was faster, its item stays as it is.
      put(Item.fresh(name));
    }
  }

  /** Records that an item is done. */
  public void commit(String name) {
    documents.update(key(name), found -> commit(name, found));
  }

  private static Optional<String> commit(String name, Optional<VersionedDocument> found) {
    Item item = found.map(Item::read).orElseGet(() -> Item.fresh(name));
    return item.state() == State.DONE
        ? Optional.empty()
        : Optional.of(item.with(State.DONE).json());
  }

  /** Changes an item if it exists. If the change returns an equal item, nothing is written. */
  void change(String name, UnaryOperator<Item> change) {
    documents.update(
        key(name), found -> found.map(document -> change.apply(Item.read(document)).json()));
  }

  /**
   * Writes an item at its version.
   *
   * @return whether it was written; false if it has another version by now
   */
  boolean put(Item item) {
    return documents.put(key(item.name()), item.version(), item.json()).isPresent();
  }

  /**
   * The key of an item.
   *
   * @throws IllegalArgumentException if the item is empty, too long or not valid text
   */
  private String key(String item) {
    if (item.isEmpty() || item.length() > MAX_CHARS) {
      throw new IllegalArgumentException(
          "an item has 1 to %d characters, not %d".formatted(MAX_CHARS, item.length()));
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(item)) {
      throw new IllegalArgumentException("an item has half of a surrogate pair");
    }
    byte[] bytes = item.getBytes(StandardCharsets.UTF_8);
    String key = prefix + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    return key.length() <= VersionedDocuments.KEY_BYTES ? key : prefix + "~" + Keys.hash(item);
  }
}
