package io.millrace.queues.registry;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.NodeRecord.State;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The execution nodes. Safe for use by any number of threads. */
public final class NodeRegistry implements QueueBackend.Nodes {
  private final QueueSession session;

  NodeRegistry(QueueSession session) {
    this.session = session;
  }

  /** All nodes by name, including dead ones and those that have left. */
  @Override
  public List<NodeRecord> all() {
    return list().value();
  }

  /** The same, with the store time of the read; see {@link NodeRecord#stateAt}. */
  @Override
  public Read<List<NodeRecord>> list() {
    Read<List<Document>> read = session.store().documents(DocumentQuery.prefix(Keys.NODES, ""));
    return new Read<>(
        read.position(), read.timeMillis(), read.value().stream().map(NodeRecord::read).toList());
  }

  /** The node of this name. */
  @Override
  public Optional<NodeRecord> find(String name) {
    return name.isEmpty()
        ? Optional.empty()
        : session.document(Keys.node(name)).map(NodeRecord::read);
  }

  /** The node with this id or, if there is none, with this name. */
  @Override
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
   * Takes a name for a process. The caller decides from the record that it has read whether the
   * name is free.
   *
   * @param seen the record that the caller has read; null if there was none
   * @return the node; empty if the record has changed meanwhile
   */
  @Override
  public Optional<NodeRecord> take(String name, @Nullable NodeRecord seen, NodeIdentity presence) {
    long now = session.store().document(Keys.node(name)).timeMillis();
    NodeRecord next =
        seen == null
            ? new NodeRecord(session.newId(), name, now, null, presence, new Place(0, 0))
            : seen.held(presence, now);
    return Optional.ofNullable(redefine(seen, next));
  }

  /**
   * Refreshes the timestamp and the plugins of a node.
   *
   * @return the node as it is now; empty if another process has taken its name or it was removed
   */
  @Override
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
    NodeRecord next = now.held(presence, storeMillis);
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
  @Override
  public Optional<NodeRecord> limit(String name, @Nullable Integer maxthreads) {
    if (maxthreads != null && maxthreads < 0) {
      throw new InvalidRequestException(
          "maxthreads", "maxthreads must be a non-negative integer or null");
    }
    return session.retry(
        "node " + name, () -> find(name), now -> redefine(now, now.limited(maxthreads)));
  }

  /** Gives a name back; does nothing if another process has taken it. */
  @Override
  public void leave(NodeRecord node, String instance) {
    session.retry(
        "node " + node.name(),
        () -> heldBy(node, instance),
        now -> redefine(now, now.held(null, now.timestampMillis())));
  }

  /**
   * Removes a node that is dead or has left. When it starts again, it is a new node.
   *
   * @return whether it existed
   * @throws InvalidRequestException if it is alive
   */
  @Override
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
            node -> {
              Transaction.Builder transaction =
                  session
                      .begin()
                      .delete(node.place().byId())
                      .delete(Keys.node(name), node.place().version());
              session
                  .document(Keys.declarations(name))
                  .ifPresent(it -> transaction.delete(it.key(), it.version()));
              return session.tryCommit(transaction.build());
            })
        .isPresent();
  }

  private @Nullable NodeRecord redefine(@Nullable NodeRecord seen, NodeRecord next) {
    Place old = seen == null ? null : seen.place();
    Transaction.Builder transaction =
        session.redefine(Keys.node(next.name()), next.name(), old, NodeRecord.write(next, true));
    return written(session.tryCommit(transaction.build()));
  }

  private static @Nullable NodeRecord written(Outcome.@Nullable Done done) {
    return done == null ? null : NodeRecord.read(done.documents().getFirst());
  }
}
