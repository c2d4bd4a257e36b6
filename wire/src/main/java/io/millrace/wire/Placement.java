package io.millrace.wire;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.DocumentKey;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskRef;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.zip.CRC32;

/**
 * Which shard has what. Groups and collections are divided by their {@link Namespace}: those of one
 * share a shard, so that one transaction can change them together. The shard is the remainder of
 * the CRC-32 of the namespace, in UTF-8, divided by the number of shards. Each shard has systems of
 * its own, such as queues and jobs; what their names mean is what those of the shard {@code
 * systems} have. The access and audit of all shards are in the first one, {@link #HOME}, and so are
 * clusters. The id of a task tells its shard by its remainder. Limits are where the groups are that
 * they are about.
 *
 * @param shards the number of shards, from 1 to {@link #MOST}
 * @param systems the shard whose queues, jobs, graphs and so on are meant
 */
public record Placement(int shards, int systems) {
  /** The most shards. */
  public static final int MOST = 32;

  /** The shard of everything that is not divided: access, the audit log and clusters. */
  public static final int HOME = 0;

  private static final String THROTTLING = "throttling/";

  /** The audit log: a server keeps entries in shards that it leads. */
  private static final String AUDIT = "access.audit";

  /** What one command or read names is in different shards. */
  public static final class ShardsDifferException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private ShardsDifferException(String message) {
      super(message);
    }
  }

  /** Throws {@link IllegalArgumentException} for values out of range. */
  public Placement {
    if (shards < 1 || shards > MOST) {
      throw new IllegalArgumentException("shards must be from 1 to " + MOST + ", not " + shards);
    }
    if (systems < 0 || systems >= shards) {
      throw new IllegalArgumentException("there is no shard " + systems + " of " + shards);
    }
  }

  /** That of a store whose first shard has the systems that are meant. */
  public Placement(int shards) {
    this(shards, HOME);
  }

  /** The ids that a shard gives. */
  public Ids ids(int shard) {
    return new Ids(shards, shard);
  }

  /** The shard of a group or a collection. */
  public int ofName(String name) {
    String namespace = Namespace.of(name);
    if (Namespace.isOfSystem(namespace)) {
      return Namespace.isOfAllShards(namespace) ? HOME : systems;
    }
    return ofNamespace(namespace);
  }

  /**
   * The shard of what programs name so, and of a queue, a job type, a schedule or a limit of this
   * name.
   */
  public int ofItem(String name) {
    return ofNamespace(Namespace.of(name));
  }

  private int ofNamespace(String namespace) {
    CRC32 hash = new CRC32();
    hash.update(namespace.getBytes(StandardCharsets.UTF_8));
    return (int) (hash.getValue() % shards);
  }

  /** The shard of a task; ids that no store gives have one too. */
  public int ofTask(TaskRef task) {
    return (int) Math.floorMod(task.id() > 0 ? task.id() : task.origin(), (long) shards);
  }

  /**
   * The shard of a document.
   *
   * @throws ShardsDifferException for limits of a prefix that begins the names of groups in several
   *     shards
   */
  public int ofDocument(DocumentKey key) {
    if (Throttling.isOfPrefix(key) && shards > 1 && Namespace.of(key.key()).equals(key.key())) {
      throw new ShardsDifferException(
          "groups whose names begin with %s may be in several shards; a prefix with limits must go on to a slash or a dot"
              .formatted(key.key()));
    }
    return ofName(key.collection().startsWith(THROTTLING) ? key.key() : key.collection());
  }

  /**
   * The shard of a collection's documents.
   *
   * @return empty for limits and for the audit log, which are in all shards
   */
  public OptionalInt ofCollection(String collection) {
    return collection.startsWith(THROTTLING) || collection.equals(AUDIT)
        ? OptionalInt.empty()
        : OptionalInt.of(ofName(collection));
  }

  /**
   * The one shard of everything that a command names; {@link #HOME} if it names nothing.
   *
   * @throws ShardsDifferException if it names things in several shards
   */
  public int of(Command command) {
    return shard(command, new Place("a transaction changes one shard"));
  }

  /**
   * Checks that everything that a command names is in the shard whose systems are meant.
   *
   * @throws ShardsDifferException if something is in another one
   */
  public void check(Command command) {
    Place place = new Place("a path below /shards/" + systems + " is for that shard alone");
    place.at(systems, "the path", "/shards/" + systems);
    int _ = shard(command, place);
  }

  private int shard(Command command, Place place) {
    switch (command) {
      case Claim claim -> {
        claim.groups().forEach(place::group);
        claim.depends().forEach(place::task);
      }
      case Transaction transaction -> {
        transaction.adds().forEach(add -> place.group(add.group()));
        transaction.updates().forEach(update -> place.task(update.task()));
        transaction.renewals().forEach(renewal -> place.task(renewal.task()));
        transaction.takings().forEach(taking -> place.task(taking.task()));
        transaction.deletes().forEach(place::task);
        transaction.depends().forEach(place::task);
        transaction.documentDeletes().forEach(deleted -> place.document(deleted.key()));
        transaction.documentDepends().forEach(named -> place.document(named.key()));
        transaction.puts().forEach(place::put);
      }
    }
    return place.shard();
  }

  /**
   * The one shard of all groups and collections of a subscription.
   *
   * @throws ShardsDifferException if they are in several shards, or if it is to everything
   */
  public int of(Interest interest) {
    if (shards > 1 && interest.groups().isEmpty() && interest.collections().isEmpty()) {
      throw new ShardsDifferException(
          "this store has %d shards, and changes are those of one: name groups, collections or the shard, from 0 to %d"
              .formatted(shards, shards - 1));
    }
    Place place = new Place("changes are those of one shard");
    interest.groups().forEach(place::group);
    interest
        .collections()
        .forEach(collection -> {
          OptionalInt shard = ofCollection(collection);
          if (shard.isEmpty() && shards > 1) {
            throw new ShardsDifferException(
                collection + " is in all shards, and changes are those of one: name the shard");
          }
          place.at(shard.orElse(HOME), "collection", collection);
        });
    return place.shard();
  }

  /** The shard of what was named so far. */
  private final class Place {
    private final String rule;
    private int found = -1;
    private String kind = "";
    private Object by = "";

    /**
     * Nothing was named.
     *
     * @param rule what is said if shards differ
     */
    Place(String rule) {
      this.rule = rule;
    }

    int shard() {
      return found < 0 ? HOME : found;
    }

    void at(int shard, String itsKind, Object what) {
      if (found < 0) {
        found = shard;
        kind = itsKind;
        by = what;
      } else if (found != shard) {
        throw new ShardsDifferException(
            "%s: %s %s is in shard %d, and %s %s in shard %d"
                .formatted(rule, kind, by, found, itsKind, what, shard));
      }
    }

    void group(String group) {
      at(ofName(group), "group", group);
    }

    void task(TaskRef task) {
      at(ofTask(task), "task", task.id() > 0 ? task.id() : task.origin());
    }

    void document(DocumentKey key) {
      at(ofDocument(key), "document", key.collection() + "/" + key.key());
    }

    void put(Transaction.Put put) {
      document(put.key());
      if (shards > 1 && Throttling.isSetBy(put.key())) {
        try {
          for (String shared : Throttling.read(put.key(), put.body()).shared()) {
            at(ofName(shared), "shared limit", shared);
          }
        } catch (IllegalArgumentException e) {
          if (e instanceof ShardsDifferException) {
            throw e;
          }
          // The store refuses what it cannot read.
        }
      }
    }
  }
}
