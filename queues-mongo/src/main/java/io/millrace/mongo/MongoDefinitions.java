package io.millrace.mongo;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Health;
import io.millrace.queues.Queue.Settings;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Status;
import io.millrace.queues.registry.QueueRegistry;
import io.millrace.work.DelayedTasks.Delays;
import io.millrace.work.policy.Policy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The queues in {@code queues}. Documents that are no queues, without a name or a plugin, are left
 * alone, and so are the fields of others.
 */
final class MongoDefinitions implements QueueBackend.Definitions {
  private static final Place NOWHERE = new Place(0, 0);
  private static final String THREADS = "threads";
  private static final String PIN = "nodes_pin";
  private static final String IGNORE = "nodes_ignore";

  private final MongoConnection connection;
  private final InstantSource clock;

  /** The queues that the node of this process does not serve, as they were then. */
  private final Map<ObjectId, Suspended> suspended = new ConcurrentHashMap<>();

  private record Suspended(Change definition, Health health) {}

  MongoDefinitions(MongoConnection connection, InstantSource clock) {
    this.connection = connection;
    this.clock = clock;
  }

  private MongoCollection<Document> queues() {
    return connection.collection("queues");
  }

  @Override
  public List<Queue> all() {
    return connection.call(() -> {
      List<Queue> all = new ArrayList<>();
      for (Document each : queues().find().sort(Sorts.ascending("_id"))) {
        read(each).ifPresent(all::add);
      }
      return all;
    });
  }

  private Optional<Queue> first(Document filter) {
    return connection.call(() -> {
      for (Document each : queues().find(filter)) {
        Optional<Queue> queue = read(each);
        if (queue.isPresent()) {
          return queue;
        }
      }
      return Optional.empty();
    });
  }

  private Optional<Queue> read(Document document) {
    String name = BsonForm.text(document, "name");
    String plugin = BsonForm.text(document, "plugin");
    if (!(document.get("_id") instanceof org.bson.types.ObjectId key)
        || name == null
        || plugin == null) {
      return Optional.empty();
    }
    ObjectId id = BsonForm.id(key);
    Long threads = BsonForm.number(document, THREADS);
    Settings settings =
        new Settings(
            threads == null ? null : (int) Math.clamp(threads, 0L, Integer.MAX_VALUE),
            Sort.of(String.valueOf(document.get("sort"))).orElse(Sort.DEFAULT),
            BsonForm.texts(document, PIN),
            BsonForm.texts(document, IGNORE),
            0);
    return Optional.of(
        new Queue(id, name, plugin, settings, health(id, name, plugin, settings), NOWHERE));
  }

  private Health health(ObjectId id, String name, String plugin, Settings settings) {
    Suspended known = suspended.get(id);
    if (known == null) {
      return Health.GOOD;
    }
    if (known.definition().equals(new Change(name, plugin, settings))) {
      return known.health();
    }
    suspended.remove(id, known);
    return Health.GOOD;
  }

  @Override
  public Optional<Queue> find(ObjectId id) {
    return first(new Document("_id", BsonForm.id(id)));
  }

  @Override
  public Optional<Queue> find(String idOrName) {
    Optional<Queue> byId =
        ObjectId.isValid(idOrName) ? find(new ObjectId(idOrName)) : Optional.empty();
    return byId.isPresent() || idOrName.isEmpty() ? byId : first(new Document("name", idOrName));
  }

  @Override
  public Queue create(String name, String plugin, Settings settings) {
    QueueRegistry.checkName(name);
    check(settings);
    checkFree(name);
    org.bson.types.ObjectId id = new org.bson.types.ObjectId();
    Document document = new Document("_id", id).append("name", name).append("plugin", plugin);
    fields(Settings.DEFAULTS, settings)
        .forEach((field, value) -> {
          if (value != null) {
            document.append(field, value);
          }
        });
    document.putIfAbsent(THREADS, null);
    write(name, () -> queues().insertOne(document));
    return read(document).orElseThrow();
  }

  private void checkFree(String name) {
    if (first(new Document("name", name)).isPresent()) {
      throw taken(name);
    }
  }

  private static InvalidRequestException taken(String name) {
    return new InvalidRequestException("name", "there is a queue named " + name + " already");
  }

  private <T> T write(String name, Supplier<T> operation) {
    try {
      return operation.get();
    } catch (MongoWriteException | MongoCommandException e) {
      if (ErrorCategory.fromErrorCode(e.getCode()) == ErrorCategory.DUPLICATE_KEY) {
        throw taken(name);
      }
      throw MongoConnection.failed(e);
    } catch (MongoException e) {
      throw MongoConnection.failed(e);
    }
  }

  /** Refuses settings that the schema has no field for. */
  private static void check(Settings settings) {
    if (settings.requeueOrphans() > 0) {
      throw notKept("requeue_orphans");
    }
    Policy policy = settings.policy();
    if (!policy.isEmpty()) {
      throw notKept(policy.fields().keySet().iterator().next());
    }
  }

  static InvalidRequestException notKept(String field) {
    return new InvalidRequestException(field, "queues in MongoDB have no " + field);
  }

  /** The fields that differ; null for one that is to be removed, but for threads. */
  private static Map<String, @Nullable Object> fields(Settings old, Settings now) {
    Map<String, @Nullable Object> fields = new HashMap<>();
    if (!Objects.equals(old.threads(), now.threads())) {
      fields.put(THREADS, now.threads());
    }
    if (old.sort() != now.sort()) {
      fields.put("sort", now.sort().word());
    }
    if (!old.nodesPin().equals(now.nodesPin())) {
      fields.put(PIN, now.nodesPin().isEmpty() ? null : now.nodesPin());
    }
    if (!old.nodesIgnore().equals(now.nodesIgnore())) {
      fields.put(IGNORE, now.nodesIgnore().isEmpty() ? null : now.nodesIgnore());
    }
    return fields;
  }

  /** Changes only the fields that differ, if they are still as they were read. */
  @Override
  public Optional<Queue> change(ObjectId id, UnaryOperator<Change> change) {
    while (true) {
      Document old =
          connection.call(() -> queues().find(new Document("_id", BsonForm.id(id))).first());
      Optional<Queue> read = old == null ? Optional.empty() : read(old);
      if (old == null || read.isEmpty()) {
        return Optional.empty();
      }
      Queue queue = read.get();
      Change next = change.apply(new Change(queue.name(), queue.plugin(), queue.settings()));
      check(next.settings());
      Map<String, @Nullable Object> fields = fields(queue.settings(), next.settings());
      if (!next.name().equals(queue.name())) {
        QueueRegistry.checkName(next.name());
        checkFree(next.name());
        fields.put("name", next.name());
      }
      if (!next.plugin().equals(queue.plugin())) {
        fields.put("plugin", next.plugin());
      }
      if (fields.isEmpty()) {
        return read;
      }
      Document changed = write(next.name(), () -> update(id, old, fields));
      if (changed != null) {
        return read(changed);
      }
    }
  }

  private @Nullable Document update(
      ObjectId id, Document old, Map<String, @Nullable Object> fields) {
    Document filter = new Document("_id", BsonForm.id(id));
    Document set = new Document();
    Document unset = new Document();
    fields.forEach((field, value) -> {
      filter.append(field, old.get(field));
      if (value == null && !field.equals(THREADS)) {
        unset.append(field, "");
      } else {
        set.append(field, value);
      }
    });
    Document update = new Document();
    if (!set.isEmpty()) {
      update.append("$set", set);
    }
    if (!unset.isEmpty()) {
      update.append("$unset", unset);
    }
    return queues()
        .findOneAndUpdate(
            filter, update, new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER));
  }

  /**
   * If another node of ours serves the queue, the node of this process leaves it alone until the
   * queue is changed or the node starts again; otherwise its {@code threads} become 0.
   */
  @Override
  public Optional<Queue> suspend(
      ObjectId id, String node, String reason, Predicate<Queue> servedElsewhere) {
    Optional<Queue> found = find(id);
    if (found.isEmpty()) {
      return found;
    }
    Queue queue = found.get();
    int threads = queue.settings().limit();
    long now = clock.millis();
    if (threads > 0 && !servedElsewhere.test(queue)) {
      return change(id, old -> new Change(old.name(), old.plugin(), old.settings().withThreads(0)))
          .map(halted ->
              with(halted, new Health(new Health.Halt(node, reason, threads, now), List.of())));
    }
    Health health = new Health(null, List.of(new Health.Suspension(node, reason, now)));
    suspended.put(
        id, new Suspended(new Change(queue.name(), queue.plugin(), queue.settings()), health));
    return Optional.of(with(queue, health));
  }

  private static Queue with(Queue queue, Health health) {
    return new Queue(
        queue.id(), queue.name(), queue.plugin(), queue.settings(), health, queue.place());
  }

  @Override
  public void lift(ObjectId id, String node) {
    suspended.remove(id);
  }

  /**
   * Not there: the schema has no field for the former limit.
   *
   * @throws InvalidRequestException always, if there is such a queue
   */
  @Override
  public Optional<Queue> resume(ObjectId id) {
    if (find(id).isPresent()) {
      throw new InvalidRequestException(
          "", "a queue in MongoDB is resumed by setting its threads, which it does not remember");
    }
    return Optional.empty();
  }

  @Override
  public boolean delete(ObjectId id) {
    return connection.call(
        () -> queues().deleteOne(new Document("_id", BsonForm.id(id))).getDeletedCount() > 0);
  }

  @Override
  public List<Queue.Counts> counts(List<Queue> some) {
    Map<ObjectId, long[]> counts = new HashMap<>();
    some.forEach(queue -> counts.put(queue.id(), new long[3]));
    List<Document> pipeline =
        List.of(
            new Document(
                "$match",
                new Document("queue", new Document("$in", BsonForm.ids(counts.keySet())))),
            new Document(
                "$group",
                new Document("_id", new Document("queue", "$queue").append("status", "$status"))
                    .append("tasks", new Document("$sum", 1))));
    return connection.call(() -> {
      for (Document group : connection.collection("tasks").aggregate(pipeline)) {
        if (group.get("_id") instanceof Document key
            && key.get("queue") instanceof org.bson.types.ObjectId queue
            && key.get("status") instanceof Number status) {
          long[] of = counts.getOrDefault(BsonForm.id(queue), new long[3]);
          of[kind(status.intValue())] += BsonForm.integer(group, "tasks", 0);
        }
      }
      return some.stream()
          .map(queue -> counts.get(queue.id()))
          .map(of -> new Queue.Counts(of[0], of[1], of[2]))
          .toList();
    });
  }

  private static int kind(int status) {
    if (Status.isFinished(status)) {
      return 2;
    }
    return Status.isActive(status) ? 1 : 0;
  }

  @Override
  public Map<ObjectId, Delays> delays(List<Queue> some) {
    return Map.of();
  }

  @Override
  public Optional<Duration> pauseForLimits(Queue queue) {
    return Optional.empty();
  }
}
