package io.millrace.mongo;

import com.mongodb.client.MongoCollection;
import io.millrace.blobs.BlobStore;
import io.millrace.mongo.MongoConnection.MongoRole;
import io.millrace.mongo.MongoQueues.Address;
import io.millrace.queues.Queue;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskIndex.TaskKind;
import io.millrace.queues.registry.TaskTransfer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Moves queues and tasks between a database of Disbatch and a store; to be closed. Ids stay. */
public final class MongoMove implements AutoCloseable {
  /** The field of a task that moves, or has moved. */
  static final String MARK = "millrace";

  private final Sides sides;
  private final MongoDefinitions definitions;

  private MongoMove(Sides sides) {
    this.sides = sides;
    this.definitions = sides.definitions();
  }

  /**
   * Between a database, with the credentials of {@code disbatchd}, and a store.
   *
   * @param blobs has the outputs of the store's tasks
   * @throws IllegalArgumentException if the credentials cannot be read
   */
  public static MongoMove between(
      Address address, Queues store, BlobStore blobs, InstantSource clock) {
    return new MongoMove(
        new Sides(
            MongoConnection.open(address.address(), MongoRole.DISBATCHD), store, blobs, clock));
  }

  /**
   * What is moved.
   *
   * @param queues the ids or names of queues; none for all
   * @param dryRun whether tasks are only counted
   */
  public record Selection(List<String> queues, boolean dryRun) {
    public Selection {
      queues = List.copyOf(queues);
    }
  }

  /** Takes how many tasks of all have been looked at. */
  @FunctionalInterface
  public interface Progress {
    /** Takes the numbers. */
    void at(long done, long all);
  }

  /**
   * What has been moved of a queue, or would be.
   *
   * @param name its name
   * @param threads its limit where it was; null for none
   * @param waiting tasks that were queued
   * @param held tasks that were held back
   * @param finished tasks that had finished
   * @param active tasks that are claimed or running, and were left alone
   * @param problems what else was not moved, and why
   */
  public record Moved(
      String name,
      @Nullable Integer threads,
      long waiting,
      long held,
      long finished,
      long active,
      List<String> problems) {
    public Moved {
      problems = List.copyOf(problems);
    }
  }

  private static List<Queue> chosen(List<Queue> all, List<String> names) {
    if (names.isEmpty()) {
      return all;
    }
    List<Queue> chosen = new ArrayList<>();
    for (String name : names) {
      chosen.add(
          all.stream()
              .filter(queue -> queue.id().hex().equals(name) || queue.name().equals(name))
              .findFirst()
              .orElseThrow(() ->
                  new InvalidRequestException("queue", "there is no queue " + name + " there")));
    }
    return chosen;
  }

  /**
   * Takes queues and tasks of the database into the store. A queue is created without running
   * tasks: its {@code threads} are 0.
   *
   * @throws InvalidRequestException if a queue does not exist, or the store has another one of its
   *     name; nothing has changed then
   */
  public List<Moved> importQueues(Selection selection, Progress progress) {
    // First the store: if it cannot be reached, nothing else matters.
    List<Queue> there = sides.store().queues().all();
    List<Queue> chosen = chosen(definitions.all(), selection.queues());
    for (Queue queue : chosen) {
      boolean taken =
          there.stream()
              .anyMatch(
                  other -> other.name().equals(queue.name()) && !other.id().equals(queue.id()));
      if (taken) {
        throw new InvalidRequestException(
            "queue", "the store has another queue named " + queue.name() + ": rename one of them");
      }
    }
    long all = 0;
    for (Queue queue : chosen) {
      Document open = MongoImport.open(queue, MARK + ".moved");
      all += sides.connection().call(() -> sides.tasks().countDocuments(open));
    }
    Counter counter = new Counter(progress, all);
    List<Moved> moved = new ArrayList<>();
    for (Queue queue : chosen) {
      moved.add(new MongoImport(sides, queue, selection, counter).run());
    }
    return moved;
  }

  /**
   * Moves queues and tasks of the store into the database. A queue is created with {@code threads}
   * 0. Settings and delays that the schema has no field for are named among the problems.
   *
   * @throws InvalidRequestException if a queue does not exist, or the database has another one of
   *     its name; nothing has changed then
   */
  public List<Moved> exportQueues(Selection selection, Progress progress) {
    List<Queue> chosen = chosen(sides.store().queues().all(), selection.queues());
    for (Queue queue : chosen) {
      Optional<Queue> same = definitions.find(queue.name());
      if (same.isPresent() && !same.get().id().equals(queue.id())) {
        throw new InvalidRequestException(
            "queue",
            "the database has another queue named " + queue.name() + ": rename one of them");
      }
    }
    long all =
        chosen.stream()
            .map(queue -> sides.store().index().counts().get(queue.id()))
            .filter(Objects::nonNull)
            .mapToLong(counts -> counts.queued() + counts.held() + counts.finished())
            .sum();
    Counter counter = new Counter(progress, all);
    List<Moved> moved = new ArrayList<>();
    for (Queue queue : chosen) {
      moved.add(new MongoExport(sides, queue, selection, counter).run());
    }
    return moved;
  }

  /** The database and the store. */
  record Sides(MongoConnection connection, Queues store, BlobStore blobs, InstantSource clock) {
    MongoDefinitions definitions() {
      return new MongoDefinitions(connection, clock);
    }

    MongoCollection<Document> tasks() {
      return connection.collection("tasks");
    }
  }

  /** Counts the tasks that have been looked at. */
  static final class Counter {
    private final Progress progress;
    private final long all;
    private long done;

    Counter(Progress progress, long all) {
      this.progress = progress;
      this.all = all;
    }

    void add(int more) {
      done += more;
      progress.at(Math.min(done, all), all);
    }
  }

  /** Counts by what tasks were. */
  static final class Tally {
    private final Map<TaskKind, Long> counts = new HashMap<>();
    final List<String> problems = new ArrayList<>();

    void add(int status) {
      counts.merge(TaskKind.of(status), 1L, Long::sum);
    }

    Moved moved(Queue queue, long active) {
      return new Moved(
          queue.name(),
          queue.settings().threads(),
          counts.getOrDefault(TaskKind.QUEUED, 0L),
          counts.getOrDefault(TaskKind.HELD, 0L),
          counts.getOrDefault(TaskKind.FINISHED, 0L),
          active,
          problems);
    }
  }

  /** The move of one queue. */
  abstract static class OfQueue {
    final Sides sides;
    final TaskTransfer transfer;
    final Queue queue;
    final boolean dry;
    final Counter counter;
    final Tally tally = new Tally();

    OfQueue(Sides sides, Queue queue, Selection selection, Counter counter) {
      this.sides = sides;
      this.transfer = sides.store().transfer(sides.blobs());
      this.queue = queue;
      this.dry = selection.dryRun();
      this.counter = counter;
    }

    MongoCollection<Document> collection() {
      return sides.tasks();
    }
  }

  @Override
  public void close() {
    sides.connection().close();
  }
}
