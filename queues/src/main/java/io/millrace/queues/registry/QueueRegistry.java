package io.millrace.queues.registry;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.DelayedTasks;
import io.millrace.work.DelayedTasks.Delays;
import io.millrace.work.policy.SharedLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The queues. Safe for use by any number of threads. */
public final class QueueRegistry implements QueueBackend.Definitions {
  /** Words after {@code /tasks/} in addresses that are not queues, or that never arrive there. */
  private static final Set<String> TAKEN = Set.of("id", "search", "wait", ".", "..");

  private static final int MAX_NAME_BYTES = 512;

  private final QueueSession session;

  QueueRegistry(QueueSession session) {
    this.session = session;
  }

  /**
   * Creates a queue.
   *
   * @throws InvalidRequestException if the name is taken, empty, an id or a word of the command
   *     interface ({@code id}, {@code search}, {@code wait}), or the store does not accept it
   */
  @Override
  public Queue create(String name, String plugin, Queue.Settings settings) {
    return create(session.newId(), name, plugin, settings);
  }

  /** The same under an id that no queue has. */
  Queue create(ObjectId id, String name, String plugin, Queue.Settings settings) {
    checkName(name);
    Transaction.Builder transaction =
        session
            .redefine(
                Keys.queue(id),
                id.hex(),
                null,
                Queue.write(name, plugin, settings, Queue.Health.GOOD))
            .put(Keys.name(name), DocumentVersion.ABSENT, Keys.body(id));
    limit(transaction, id, Throttling.NONE, settings.policy().throttling());
    Outcome.Done done = session.tryCommit(transaction.build());
    if (done == null) {
      throw new InvalidRequestException("name", "there is a queue named " + name + " already");
    }
    return Queue.read(done.documents().getFirst());
  }

  /** Sets the limits under which the tasks of a queue are claimed. */
  private static void limit(
      Transaction.Builder transaction, ObjectId queue, Throttling from, Throttling to) {
    if (!to.equals(from)) {
      DocumentKey key = Throttling.ofGroup(Queue.waitingGroup(queue));
      if (to.equals(Throttling.NONE)) {
        transaction.delete(key, DocumentVersion.ANY);
      } else {
        transaction.put(key, DocumentVersion.ANY, to.body());
      }
    }
  }

  /** All queues, oldest first. */
  @Override
  public List<Queue> all() {
    return session.all(Keys.QUEUES).stream().map(Queue::read).toList();
  }

  /** The queue with this id. */
  @Override
  public Optional<Queue> find(ObjectId id) {
    return session.document(Keys.queue(id)).map(Queue::read);
  }

  /** The queue with this id or, if there is none, with this name. */
  @Override
  public Optional<Queue> find(String idOrName) {
    if (ObjectId.isValid(idOrName)) {
      Optional<Queue> byId = find(new ObjectId(idOrName));
      if (byId.isPresent()) {
        return byId;
      }
    }
    if (idOrName.isEmpty()) {
      return Optional.empty();
    }
    return session
        .document(Keys.name(idOrName))
        .flatMap(name -> find(new ObjectId(name.body().utf8())));
  }

  /**
   * Changes a queue: {@code change} is applied to its state at the moment of the change. A new
   * limit of threads also resumes it, as {@link #resume} does, but with that limit.
   *
   * @return the queue as it is now; empty if there is none with this id
   * @throws InvalidRequestException if the new name is one that {@link #create} refuses
   */
  @Override
  public Optional<Queue> change(ObjectId id, UnaryOperator<Change> change) {
    return session.retry("queue " + id, () -> find(id), queue -> tryChange(queue, change));
  }

  private @Nullable Queue tryChange(Queue old, UnaryOperator<Change> change) {
    Change next = change.apply(new Change(old.name(), old.plugin(), old.settings()));
    boolean sameLimit = Objects.equals(next.settings().threads(), old.settings().threads());
    return replace(old, next, sameLimit ? old.health() : Queue.Health.GOOD);
  }

  /**
   * Keeps a node that cannot start task runners from claiming tasks of a queue, and halts the queue
   * (sets its {@code threads} to 0) if no other node can serve it, or if many nodes have failed.
   * {@link #resume} undoes both; a new start of the node undoes the first, by {@link #lift}.
   *
   * @param node the node that cannot start runners
   * @param reason why; the first 500 characters are kept
   * @param servedElsewhere whether another live node serves the queue, given as it is now
   * @return the queue as it is now; empty if there is none with this id
   */
  @Override
  public Optional<Queue> suspend(
      ObjectId id, String node, String reason, Predicate<Queue> servedElsewhere) {
    return session.retry(
        "queue " + id,
        () -> find(id),
        queue -> {
          long now = session.nowMillis();
          Queue.Settings settings = queue.settings();
          Queue.Health health = queue.health().suspendedOn(node, reason, now);
          boolean many = health.suspensions().size() >= Queue.Health.MAX_SUSPENSIONS;
          if (settings.limit() > 0 && (many || !servedElsewhere.test(queue))) {
            health = health.haltedBy(node, reason, settings.limit(), now);
            settings = settings.withThreads(0);
          }
          return replace(queue, new Change(queue.name(), queue.plugin(), settings), health);
        });
  }

  /** Lets a suspended node claim again; does nothing if it is not suspended. */
  @Override
  public void lift(ObjectId id, String node) {
    session.retry(
        "queue " + id,
        () -> find(id).filter(queue -> queue.health().isSuspendedOn(node)),
        queue -> replace(queue, asItIs(queue), queue.health().without(node)));
  }

  /**
   * Resumes a queue: all nodes may claim again, and if it was halted, it gets its former limit of
   * threads back. Does nothing if nothing is wrong.
   *
   * @return the queue as it was; empty if there is none with this id
   */
  @Override
  public Optional<Queue> resume(ObjectId id) {
    return session.retry(
        "queue " + id,
        () -> find(id),
        queue -> {
          if (queue.health().isGood()) {
            return queue;
          }
          Queue.Health.Halt halt = queue.health().halt();
          Queue.Settings settings =
              halt == null ? queue.settings() : queue.settings().withThreads(halt.threads());
          Change next = new Change(queue.name(), queue.plugin(), settings);
          return replace(queue, next, Queue.Health.GOOD) == null ? null : queue;
        });
  }

  private static Change asItIs(Queue queue) {
    return new Change(queue.name(), queue.plugin(), queue.settings());
  }

  private @Nullable Queue replace(Queue old, Change next, Queue.Health health) {
    Transaction.Builder transaction =
        session.redefine(
            Keys.queue(old.id()),
            old.id().hex(),
            old.place(),
            Queue.write(next.name(), next.plugin(), next.settings(), health));
    limit(
        transaction,
        old.id(),
        old.settings().policy().throttling(),
        next.settings().policy().throttling());
    if (!next.name().equals(old.name())) {
      checkName(next.name());
      if (session.document(Keys.name(next.name())).isPresent()) {
        throw new InvalidRequestException(
            "name", "there is a queue named " + next.name() + " already");
      }
      transaction
          .put(Keys.name(next.name()), DocumentVersion.ABSENT, Keys.body(old.id()))
          .delete(Keys.name(old.name()), DocumentVersion.ANY);
    }
    Outcome.Done done = session.tryCommit(transaction.build());
    return done == null ? null : Queue.read(done.documents().getFirst());
  }

  /**
   * Deletes a queue; its tasks stay as they are, and waiting tasks are no longer run.
   *
   * @return whether it existed
   */
  @Override
  public boolean delete(ObjectId id) {
    return session.retry("queue " + id, () -> find(id), this::tryDelete).isPresent();
  }

  private Outcome.@Nullable Done tryDelete(Queue queue) {
    Transaction.Builder transaction =
        session
            .begin()
            .delete(queue.place().byId())
            .delete(Keys.queue(queue.id()), queue.place().version())
            .delete(Keys.name(queue.name()), DocumentVersion.ANY);
    limit(transaction, queue.id(), queue.settings().policy().throttling(), Throttling.NONE);
    session
        .document(Keys.bell(queue.id()))
        .ifPresent(bell -> transaction.delete(bell.key(), DocumentVersion.ANY));
    return session.tryCommit(transaction.build());
  }

  /** How many tasks each of these queues has, in their order; read at one position. */
  @Override
  public List<Queue.Counts> counts(List<Queue> queues) {
    return loads(queues, Map.of()).stream()
        .map(load ->
            new Queue.Counts(
                load.waiting() + load.delayed() + load.held(), load.active(), load.finished()))
        .toList();
  }

  /**
   * How many tasks each of these queues has in each state, in their order; read at one position.
   *
   * @param oldest when the oldest waiting task of each group became available, in milliseconds
   *     since the epoch, without groups that have none
   */
  public List<Queue.Load> loads(List<Queue> queues, Map<String, Long> oldest) {
    Map<String, GroupSummary> groups = new HashMap<>();
    for (GroupSummary group : session.store().groups().value()) {
      groups.put(group.name(), group);
    }
    GroupSummary none = new GroupSummary("", 0, 0, 0, 0);
    List<Queue.Load> loads = new ArrayList<>(queues.size());
    for (Queue queue : queues) {
      GroupSummary waiting = groups.getOrDefault(queue.waitingGroup(), none);
      loads.add(
          new Queue.Load(
              waiting.waiting(),
              waiting.delayed(),
              waiting.claimed(),
              groups.getOrDefault(Queue.heldGroup(queue.id()), none).waiting(),
              groups.getOrDefault(Queue.finishedGroup(queue.id()), none).waiting(),
              oldest.get(queue.waitingGroup())));
    }
    return loads;
  }

  /** Wakes the nodes that may serve a queue, as part of a transaction. */
  static void ring(Transaction.Builder transaction, ObjectId queue) {
    ring(transaction, queue, Duration.ZERO);
  }

  /**
   * The same, and again after a delay.
   *
   * @param delay when a task of the transaction can be claimed; zero for at once
   */
  static void ring(Transaction.Builder transaction, ObjectId queue, Duration delay) {
    ring(transaction, queue, delay.isZero() ? Set.of() : Set.of(delay));
  }

  /** The same, and again after each of these delays. */
  static void ring(Transaction.Builder transaction, ObjectId queue, Set<Duration> delays) {
    StringBuilder text = new StringBuilder(queue.hex());
    delays.forEach(delay -> text.append(' ').append(delay.toMillis()));
    transaction.put(Keys.bell(queue), DocumentVersion.ANY, Bytes.of(text.toString()));
  }

  /** After which delays a bell is to be heard again. */
  static List<Duration> delays(Document bell) {
    return Arrays.stream(bell.body().utf8().split(" "))
        .skip(1)
        .map(millis -> Duration.ofMillis(Long.parseLong(millis)))
        .toList();
  }

  /** When delayed tasks of these queues can be claimed, for those that have any. */
  @Override
  public Map<ObjectId, Delays> delays(List<Queue> queues) {
    Map<String, ObjectId> groups = new HashMap<>();
    queues.forEach(queue -> groups.put(queue.waitingGroup(), queue.id()));
    Map<ObjectId, Delays> delays = new HashMap<>();
    DelayedTasks.read(session.store(), groups::containsKey)
        .forEach((group, read) -> delays.put(groups.get(group), read));
    return delays;
  }

  /**
   * How long a node waits before it asks again for tasks of a queue that gave it fewer than it
   * asked for: a limit of starts, or a shared one, may keep tasks waiting, and no bell tells when
   * it does not any more. See {@link QueueBackend.Runs#await} for shared limits.
   *
   * @return empty if nothing waits, or no such limit applies
   */
  @Override
  public Optional<Duration> pauseForLimits(Queue queue) {
    if (queue.settings().policy().isEmpty()) {
      return Optional.empty();
    }
    Throttling limits = queue.settings().policy().throttling();
    boolean timed =
        limits.group().starts() > 0 || limits.key().starts() > 0 || !limits.shared().isEmpty();
    boolean waits =
        timed
            && !session
                .store()
                .group(GroupQuery.waiting(queue.waitingGroup()).withLimit(1))
                .value()
                .isEmpty();
    return waits ? Optional.of(SharedLimits.pause(limits)) : Optional.empty();
  }

  /** The queue whose bell this is. */
  static ObjectId rung(Document bell) {
    return new ObjectId(bell.key().key());
  }

  /**
   * Checks the name of a new queue.
   *
   * @throws InvalidRequestException if it is one that {@link #create} refuses
   */
  public static void checkName(String name) {
    if (name.isBlank()) {
      throw new InvalidRequestException("name", "the name of a queue is empty");
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
      throw new InvalidRequestException("name", "the name of a queue has half of a surrogate pair");
    }
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_NAME_BYTES) {
      throw new InvalidRequestException(
          "name",
          "the name of a queue has " + bytes + " bytes of UTF-8, more than " + MAX_NAME_BYTES);
    }
    if (ObjectId.isValid(name)) {
      throw new InvalidRequestException("name", "the name of a queue looks like an id: " + name);
    }
    if (TAKEN.contains(name)) {
      throw new InvalidRequestException(
          "name", "a queue cannot be named " + name + ", which means something else in addresses");
    }
  }
}
