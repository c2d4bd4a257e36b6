package io.millrace.cluster.remote.backlog;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The items of one backlog, for everybody. Each method may be called again after it threw: what is
 * done already is not done twice. Safe for use by any number of threads.
 */
public final class Items {
  private static final Logger LOG = LoggerFactory.getLogger(Items.class);
  private static final int ATTEMPTS = 100;

  private final VersionedDocuments documents;
  private final String prefix;

  /**
   * The items of a backlog.
   *
   * @throws IllegalArgumentException where that is no name
   */
  public Items(VersionedDocuments documents, String backlog) {
    this.documents = documents;
    this.prefix = ItemKeys.prefix(backlog);
  }

  /** All items as they are listed, which may be a little old. What is no item is logged. */
  List<Item> list() {
    List<Item> items = new ArrayList<>();
    for (VersionedDocument document : documents.list(prefix)) {
      try {
        items.add(ItemForm.read(document));
      } catch (ClusterException e) {
        LOG.warn("{}", e.getMessage());
      }
    }
    return items;
  }

  /** How many items are not done. */
  public int outstanding() {
    return (int) list().stream().filter(item -> item.state() != Item.State.DONE).count();
  }

  /** Adds those that are not known yet, which then wait. */
  public void add(Collection<String> names) {
    Set<String> fresh = new HashSet<>(names);
    fresh.forEach(name -> ItemKeys.key(prefix, name));
    list().forEach(item -> fresh.remove(item.name()));
    for (String name : names.stream().filter(fresh::contains).distinct().toList()) {
      // Who was faster has added it: it may have a state of its own by now.
      put(Item.fresh(name, Item.State.WAITING));
    }
  }

  /** Records that an item is done. */
  public void commit(String name) {
    for (int i = 0; i < ATTEMPTS; i++) {
      Item item = find(name).orElseGet(() -> Item.fresh(name, Item.State.WAITING));
      if (item.state() == Item.State.DONE || put(item.with(Item.State.DONE))) {
        return;
      }
    }
    throw new UnclearOutcomeException("item " + name + " changed under every attempt");
  }

  Optional<Item> find(String name) {
    return documents.get(ItemKeys.key(prefix, name)).map(ItemForm::read);
  }

  /**
   * Writes an item at the version it has.
   *
   * @return whether it was written; false where it has another version by now
   */
  boolean put(Item item) {
    String key = ItemKeys.key(prefix, item.name());
    Version expected = item.version();
    return documents.put(key, expected, ItemForm.write(item)).isPresent();
  }
}
