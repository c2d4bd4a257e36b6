package io.millrace.queues;

import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.NodeRecord.State;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Put;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The execution nodes. Safe for use by any number of threads. */
public final class NodeRegistry {
  private final QueueSession session;

  NodeRegistry(QueueSession session) {
    this.session = session;
  }

  /** All nodes by name, those that are dead or have left too. */
  public List<NodeRecord> all() {
    return list().value();
  }

  /** The same, with the store time at which this was so; see {@link NodeRecord#stateAt}. */
  public Read<List<NodeRecord>> list() {
    Read<List<Document>> read = session.store().documents(DocumentQuery.prefix(Keys.NODES, ""));
    return new Read<>(
        read.position(), read.timeMillis(), read.value().stream().map(NodeRecord::read).toList());
  }

  /** The node of this name. */
  public Optional<NodeRecord> find(String name) {
    return name.isEmpty()
        ? Optional.empty()
        : session.document(Keys.node(name)).map(NodeRecord::read);
  }

  /** The node with this id or, if it is none, this name. */
  public Optional<NodeRecord> findByIdOrName(String idOrName) {
    if (ObjectId.isValid(idOrName)) {
      Optional<NodeRecord> byId =
          all().stream().filter(node -> node.id().hex().equals(idOrName)).findFirst();
      if (byId.isPresent()) {
        return byId;
      }
    }
    return find(idOrName);
  }

  /**
   * Takes a name for a process. Whether it is free is for the caller to know: the record that it
   * saw tells.
   *
   * @param seen what the caller saw under the name; null for nothing
   * @return the node; empty if it changed meanwhile
   */
  public Optional<NodeRecord> take(String name, @Nullable NodeRecord seen, NodeIdentity presence) {
    ObjectId id = seen == null ? session.newId() : seen.id();
    Integer maxthreads = seen == null ? null : seen.maxthreads();
    long now = session.store().document(Keys.node(name)).timeMillis();
    return Optional.ofNullable(redefine(name, seen, new Settled(id, maxthreads, presence, now)));
  }

  /**
   * Refreshes the timestamp and the plugins of a node.
   *
   * @return the node as it is now; empty if another process has taken its name or it was removed
   */
  public Optional<NodeRecord> refresh(NodeRecord node, NodeIdentity presence) {
    return session.retry(
        "node " + node.name(),
        () -> {
          Read<Optional<Document>> read = session.store().document(Keys.node(node.name()));
          return read.value()
              .map(NodeRecord::read)
              .filter(now -> now.isHeldBy(presence.instance()))
              .map(now -> new Read<>(read.position(), read.timeMillis(), now));
        },
        read -> tryRefresh(read.value(), presence, read.timeMillis()));
  }

  private Optional<NodeRecord> heldBy(NodeRecord node, String instance) {
    return find(node.name()).filter(now -> now.isHeldBy(instance));
  }

  private @Nullable NodeRecord tryRefresh(NodeRecord now, NodeIdentity presence, long storeMillis) {
    NodeRecord next =
        new NodeRecord(now.id(), now.name(), storeMillis, now.maxthreads(), presence, now.place());
    Transaction transaction =
        session
            .begin()
            .put(Keys.node(now.name()), now.place().version(), NodeRecord.write(next, false))
            .build();
    return written(session.tryCommit(transaction));
  }

  /**
   * Sets the limit of a node.
   *
   * @param maxthreads from 0; null for no limit
   * @return the node as it is now; empty if there is none of this name
   */
  public Optional<NodeRecord> limit(String name, @Nullable Integer maxthreads) {
    if (maxthreads != null && maxthreads < 0) {
      throw new InvalidRequestException(
          "maxthreads", "maxthreads must be a non-negative integer or null");
    }
    return session.retry(
        "node " + name,
        () -> find(name),
        now ->
            redefine(
                name,
                now,
                new Settled(now.id(), maxthreads, now.presence(), now.timestampMillis())));
  }

  /** Gives a name back; nothing happens if another process has taken it. */
  public void leave(NodeRecord node, String instance) {
    session.retry(
        "node " + node.name(),
        () -> heldBy(node, instance),
        now ->
            redefine(
                now.name(),
                now,
                new Settled(now.id(), now.maxthreads(), null, now.timestampMillis())));
  }

  /**
   * Removes a node that is dead or has left. When it starts again, it is a new node.
   *
   * @return whether it was there
   * @throws InvalidRequestException when it is alive
   */
  public boolean remove(String name) {
    return session
        .retry(
            "node " + name,
            () -> {
              Read<Optional<Document>> read = session.store().document(Keys.node(name));
              Optional<NodeRecord> node = read.value().map(NodeRecord::read);
              if (node.filter(it -> it.stateAt(read.timeMillis()) == State.ALIVE).isPresent()) {
                throw new InvalidRequestException(
                    "node", "node " + name + " is alive; only one that is dead or has left goes");
              }
              return node;
            },
            node ->
                session.tryCommit(
                    session
                        .begin()
                        .delete(node.place().byId())
                        .delete(Keys.node(name), node.place().version())
                        .build()))
        .isPresent();
  }

  private record Settled(
      ObjectId id,
      @Nullable Integer maxthreads,
      @Nullable NodeIdentity presence,
      long timestampMillis) {}

  private @Nullable NodeRecord redefine(String name, @Nullable NodeRecord seen, Settled next) {
    NodeRecord node =
        new NodeRecord(
            next.id(),
            name,
            next.timestampMillis(),
            next.maxthreads(),
            next.presence(),
            new Place(0, 0));
    long version = seen == null ? Transaction.DocumentVersion.ABSENT : seen.place().version();
    Transaction.Builder transaction =
        session
            .begin()
            .add(Keys.definition(name))
            .put(new Put(Keys.node(name), version, NodeRecord.write(node, true), true));
    if (seen != null) {
      transaction.delete(seen.place().byId());
    }
    return written(session.tryCommit(transaction.build()));
  }

  private static @Nullable NodeRecord written(Outcome.@Nullable Done done) {
    return done == null ? null : NodeRecord.read(done.documents().getFirst());
  }
}
