package io.millrace.mongo;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.store.Position;
import io.millrace.store.TaskStore.Read;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The execution nodes in {@code nodes}. A node of ours has a field {@code millrace} beside those of
 * Disbatch: {@code instance}, {@code host}, {@code process} and {@code plugins} say which process
 * has the name, and {@code timestamp} repeats the one outside. If the two timestamps differ, a node
 * that does not know the field has the name: then its process is not known, and it counts as alive
 * while its timestamp changes.
 */
final class MongoNodes implements QueueBackend.Nodes {
  private static final String OURS = "millrace";
  private static final String INSTANCE = OURS + ".instance";
  private static final FindOneAndUpdateOptions AFTER =
      new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER);

  private final MongoConnection connection;
  private final InstantSource clock;

  MongoNodes(MongoConnection connection, InstantSource clock) {
    this.connection = connection;
    this.clock = clock;
  }

  private MongoCollection<Document> nodes() {
    return connection.collection("nodes");
  }

  private static Optional<NodeRecord> read(@Nullable Document document) {
    String name = document == null ? null : BsonForm.text(document, "node");
    if (document == null
        || name == null
        || !(document.get("_id") instanceof org.bson.types.ObjectId id)) {
      return Optional.empty();
    }
    long timestamp = BsonForm.millis(document.get("timestamp"));
    Long most = BsonForm.number(document, "maxthreads");
    return Optional.of(
        new NodeRecord(
            BsonForm.id(id),
            name,
            timestamp,
            most == null ? null : (int) Math.clamp(most, 0L, Integer.MAX_VALUE),
            presence(document, timestamp),
            // The version, which changes with every refresh.
            new Place(0, timestamp)));
  }

  private static @Nullable NodeIdentity presence(Document document, long timestamp) {
    if (!(document.get(OURS) instanceof Document ours)
        || BsonForm.millis(ours.get("timestamp")) != timestamp) {
      return new NodeIdentity("", "", "", List.of());
    }
    String instance = BsonForm.text(ours, "instance");
    return instance == null
        ? null
        : new NodeIdentity(
            instance,
            String.valueOf(ours.get("host")),
            String.valueOf(ours.get("process")),
            BsonForm.texts(ours, "plugins"));
  }

  private static Document fields(long now, @Nullable NodeIdentity presence) {
    Document ours = new Document("timestamp", Date.from(Instant.ofEpochMilli(now)));
    if (presence != null) {
      ours.append("instance", presence.instance())
          .append("host", presence.host())
          .append("process", presence.process())
          .append("plugins", presence.plugins());
    }
    return new Document("timestamp", Date.from(Instant.ofEpochMilli(now))).append(OURS, ours);
  }

  @Override
  public List<NodeRecord> all() {
    return connection.call(() -> {
      List<NodeRecord> all = new ArrayList<>();
      for (Document each : nodes().find().sort(Sorts.ascending("node"))) {
        read(each).ifPresent(all::add);
      }
      return all;
    });
  }

  @Override
  public Read<List<NodeRecord>> list() {
    return new Read<>(new Position(0, 0), clock.millis(), all());
  }

  @Override
  public Optional<NodeRecord> find(String name) {
    return read(connection.call(() -> nodes().find(new Document("node", name)).first()));
  }

  @Override
  public Optional<NodeRecord> findByIdOrName(String idOrName) {
    Optional<NodeRecord> byId = Optional.empty();
    if (ObjectId.isValid(idOrName)) {
      Document key = new Document("_id", BsonForm.id(new ObjectId(idOrName)));
      byId = read(connection.call(() -> nodes().find(key).first()));
    }
    return byId.isPresent() || idOrName.isEmpty() ? byId : find(idOrName);
  }

  @Override
  public Optional<NodeRecord> take(String name, @Nullable NodeRecord seen, NodeIdentity presence) {
    long now = clock.millis();
    if (seen == null) {
      return add(name, fields(now, presence));
    }
    Document asSeen =
        new Document("_id", BsonForm.id(seen.id()))
            .append("timestamp", Date.from(Instant.ofEpochMilli(seen.timestampMillis())));
    return update(asSeen, fields(Math.max(now, seen.timestampMillis() + 1), presence));
  }

  /** Adds the document of a node; empty if there is one. */
  private Optional<NodeRecord> add(String name, Document fields) {
    Document update = new Document("$setOnInsert", fields.append("maxthreads", null));
    FindOneAndUpdateOptions before =
        new FindOneAndUpdateOptions().upsert(true).returnDocument(ReturnDocument.BEFORE);
    try {
      Document there = nodes().findOneAndUpdate(new Document("node", name), update, before);
      return there == null ? find(name) : Optional.empty();
    } catch (MongoCommandException e) {
      if (ErrorCategory.fromErrorCode(e.getCode()) == ErrorCategory.DUPLICATE_KEY) {
        return Optional.empty();
      }
      throw MongoConnection.failed(e);
    } catch (MongoException e) {
      throw MongoConnection.failed(e);
    }
  }

  private Optional<NodeRecord> update(Document filter, Document fields) {
    return read(
        connection.call(
            () -> nodes().findOneAndUpdate(filter, new Document("$set", fields), AFTER)));
  }

  /** Also empty if a node that does not know {@code millrace} has refreshed the document. */
  @Override
  public Optional<NodeRecord> refresh(NodeRecord node, NodeIdentity presence) {
    return find(node.name())
        .filter(now -> now.isHeldBy(presence.instance()))
        .flatMap(now ->
            update(
                new Document("_id", BsonForm.id(now.id()))
                    .append("timestamp", Date.from(Instant.ofEpochMilli(now.timestampMillis())))
                    .append(INSTANCE, presence.instance()),
                fields(Math.max(clock.millis(), now.timestampMillis() + 1), presence)));
  }

  @Override
  public void leave(NodeRecord node, String instance) {
    var _ =
        update(
            new Document("node", node.name()).append(INSTANCE, instance),
            fields(clock.millis(), null));
  }

  @Override
  public Optional<NodeRecord> limit(String name, @Nullable Integer maxthreads) {
    if (maxthreads != null && maxthreads < 0) {
      throw new InvalidRequestException(
          "maxthreads", "maxthreads must be a non-negative integer or null");
    }
    return update(new Document("node", name), new Document("maxthreads", maxthreads));
  }

  @Override
  public boolean remove(String name) {
    Optional<NodeRecord> node = find(name);
    if (node.filter(it -> it.stateAt(clock.millis()) == NodeRecord.State.ALIVE).isPresent()) {
      throw new InvalidRequestException(
          "node", "node " + name + " is alive; only one that is dead or has left goes");
    }
    return node.isPresent()
        && connection.call(() ->
            nodes()
                    .deleteOne(
                        new Document("_id", BsonForm.id(node.get().id()))
                            .append(
                                "timestamp",
                                Date.from(Instant.ofEpochMilli(node.get().timestampMillis()))))
                    .getDeletedCount()
                > 0);
  }
}
