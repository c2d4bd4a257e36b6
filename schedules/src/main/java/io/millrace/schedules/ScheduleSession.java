package io.millrace.schedules;

import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.schedules.SchedulesException.StoreFullException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.StoreSession;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The store as schedules use it: for each schedule a document with its form, and one with its
 * state. Safe for use by threads.
 */
final class ScheduleSession extends StoreSession {
  static final String FORMS = "schedules.forms";
  static final String STATES = "schedules.states";

  private final Map<String, Target> targets;

  /** Forms as they were read last: they change seldom, and reading one takes long. */
  private final Map<String, Parsed> parsed = new ConcurrentHashMap<>();

  private record Parsed(long version, Instant created, Schedule schedule) {}

  ScheduleSession(TaskStore store, RandomGenerator random, Map<String, Target> targets) {
    super(store, random);
    this.targets = Map.copyOf(targets);
  }

  @Override
  protected RuntimeException refused(Reason reason) {
    return switch (reason.kind()) {
      case FULL -> new StoreFullException(reason.message());
      case TOO_LARGE ->
          new InvalidScheduleException(
              "", "this is too large to be kept; store.max-data-bytes is the limit");
      default -> new InvalidScheduleException("", reason.message());
    };
  }

  @Override
  protected RuntimeException contended(String message) {
    return new SchedulesException(message);
  }

  static DocumentKey form(String name) {
    return new DocumentKey(FORMS, name);
  }

  static DocumentKey state(String name) {
    return new DocumentKey(STATES, name);
  }

  /**
   * A schedule as it is stored.
   *
   * @param created when it was created
   * @param formVersion the version of the document with its form
   * @param stateVersion the version of the document with its state
   */
  record Stored(
      Schedule schedule,
      Instant created,
      ScheduleState state,
      long formVersion,
      long stateVersion) {
    String name() {
      return schedule.name();
    }
  }

  /** The schedule of this name. */
  Optional<Stored> find(String name) {
    Document form = document(form(name)).orElse(null);
    Document state = document(state(name)).orElse(null);
    if (form == null || state == null) {
      parsed.remove(name);
      return Optional.empty();
    }
    Parsed read = parsed.get(name);
    if (read == null || read.version() != form.version()) {
      read = parse(form);
      parsed.put(name, read);
    }
    return Optional.of(
        new Stored(
            read.schedule(),
            read.created(),
            Json.readState(state.body()),
            form.version(),
            state.version()));
  }

  private static Parsed parse(Document form) {
    ObjectNode json = Json.read(form.body());
    Instant created = Instant.ofEpochMilli(json.required("created").asLong());
    json.remove("created");
    return new Parsed(form.version(), created, Schedule.read(form.key().key(), json, created));
  }

  static Bytes write(Schedule schedule, Instant created) {
    ObjectNode json = schedule.form().deepCopy();
    json.put("created", created.toEpochMilli());
    return Json.write(json);
  }

  /** Adds the change of a state to a transaction, if nothing of the schedule has changed. */
  static Transaction.Builder change(
      Transaction.Builder transaction, Stored from, ScheduleState to) {
    return transaction
        .depend(form(from.name()), from.formVersion())
        .put(state(from.name()), from.stateVersion(), Json.write(to));
  }

  /**
   * The target of a description.
   *
   * @throws InvalidScheduleException if it does not name exactly one
   */
  Target target(ObjectNode description) {
    Target found = null;
    for (Target target : targets.values()) {
      if (description.has(target.field())) {
        if (found != null) {
          throw new InvalidScheduleException(
              "target", "a target has either %s or %s".formatted(found.field(), target.field()));
        }
        found = target;
      }
    }
    if (found == null) {
      throw new InvalidScheduleException(
          "target",
          "a target has one of the fields "
              + String.join(", ", targets.keySet().stream().sorted().toList()));
    }
    return found;
  }

  /**
   * Starts runs of a schedule, and commits the state that follows.
   *
   * @param after the state, by the ids of the runs
   * @return whether it was committed; false if something changed in between
   * @throws InvalidScheduleException if the runs cannot be started
   */
  boolean start(
      Stored stored, List<Target.Request> runs, Function<List<String>, ScheduleState> after) {
    Target target = target(stored.schedule().target());
    return target.start(
        runs,
        stored.schedule().target(),
        new Target.JointCommit() {
          @Override
          public Transaction.Builder begin() {
            return ScheduleSession.this.begin();
          }

          @Override
          public Outcome.@Nullable Done commit(Transaction.Builder transaction, List<String> ids) {
            return tryCommit(change(transaction, stored, after.apply(ids)).build());
          }
        });
  }

  /** The targets. */
  Iterable<Target> targets() {
    return targets.values();
  }

  /** The target that keeps its runs in this collection; null if there is none. */
  @Nullable Target keeping(String collection) {
    for (Target target : targets.values()) {
      if (target.collection().equals(collection)) {
        return target;
      }
    }
    return null;
  }
}
