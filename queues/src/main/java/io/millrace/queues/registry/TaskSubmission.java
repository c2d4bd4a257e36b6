package io.millrace.queues.registry;

import io.millrace.queues.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.Scheduled;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Status;
import io.millrace.store.Bytes;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.When;
import io.millrace.work.policy.Deadlines;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.UniqueKey;
import io.millrace.work.trace.TraceContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Creates queue tasks, thousands in one transaction. Safe for use by any number of threads. */
public final class TaskSubmission implements QueueBackend.Submission {
  /**
   * The most tasks that one transaction creates: a task has two parts, perhaps a unique key and a
   * deadline, and the bell is one.
   */
  private static final int CREATED_AT_ONCE = 4_000;

  private static final int SPECIAL_AT_ONCE = 2_000;

  private static final int BYTES_AT_ONCE = 4 << 20;

  /** How much is shown of params that are refused. */
  private static final int SHOWN_CHARS = 60;

  private final QueueSession session;
  private final DeclaredParams declared;

  TaskSubmission(QueueSession session, DeclaredParams declared) {
    this.session = session;
    this.declared = declared;
  }

  /**
   * Creates a task for each of {@code params}, in transactions of a few thousand.
   *
   * @param status {@link Status#QUEUED}, or a status that holds them back
   * @return their ids in the order given
   * @throws InvalidRequestException if there is no such queue, the status is invalid, or the store
   *     does not accept a task; tasks that were created before stay
   */
  public List<ObjectId> submit(Queue queue, List<ObjectNode> params, int status) {
    List<ObjectId> created = new ArrayList<>(params.size());
    submit(queue, params, Terms.of(status), some -> some.forEach(task -> created.add(task.id())));
    return created;
  }

  /**
   * The same, passing on the ids of each transaction as soon as it is done.
   *
   * @param created takes the next tasks, in the order given
   * @throws InvalidRequestException if there is no such queue, or the store does not accept a task;
   *     tasks that were passed on stay
   */
  @Override
  public void submit(
      Queue queue, List<ObjectNode> params, Terms terms, Consumer<List<Submitted>> created) {
    checkKnown(queue, params, terms.policy());
    Optional<UniqueKey> unique = terms.policy().over(queue.settings().policy()).unique();
    int done = 0;
    while (done < params.size()) {
      List<ObjectNode> left = params.subList(done, params.size());
      List<Submitted> some =
          unique.isEmpty()
              ? Objects.requireNonNull(submitSome(queue, left, terms, null))
              : session.retry(
                  "a unique key of queue " + queue.name(),
                  () -> submitSome(queue, left, terms, unique.get()));
      done += some.size();
      created.accept(some);
    }
  }

  /**
   * Checks that the plugin of a queue takes the params of a task, see {@link DeclaredParams}.
   * Plugins that do not declare their params take any, and so do the settings of the queue that
   * name params.
   *
   * @throws InvalidRequestException naming a param that it does not take
   */
  public void checkKnown(Queue queue, ObjectNode params) {
    checkKnown(queue, List.of(params), Policy.NONE);
  }

  /** The same for tasks with settings of their own. */
  void checkKnown(Queue queue, List<ObjectNode> params, Policy own) {
    Policy settings = own.over(queue.settings().policy());
    for (ObjectNode each : params) {
      declared
          .problem(queue.plugin(), each, name -> isRead(name, settings))
          .ifPresent(problem -> {
            throw new InvalidRequestException("params", problem);
          });
    }
  }

  /** Whether settings read the value of a param. */
  private static boolean isRead(String param, Policy settings) {
    return settings.keyField().filter(param::equals).isPresent()
        || settings.unique().filter(unique -> unique.fields().contains(param)).isPresent();
  }

  /**
   * Creates a queued task with an id that the caller has drawn, so that the caller may repeat a
   * request whose answer was lost.
   *
   * @param id a unique id
   * @param run the run of a schedule to which the task belongs; null for none
   * @param trace the span to which the task belongs; null for none
   * @return the task as it is now, whoever created it; a task that was archived meanwhile is
   *     created again
   * @throws InvalidRequestException if there is no such queue, or the store does not accept the
   *     task
   */
  public QueueTask submitOnce(
      Queue queue,
      ObjectId id,
      ObjectNode params,
      @Nullable Scheduled run,
      @Nullable TraceContext trace) {
    return session.retry("task " + id, () -> tryOnce(queue, id, params, run, trace));
  }

  /** The same in no trace. */
  public QueueTask submitOnce(
      Queue queue, ObjectId id, ObjectNode params, @Nullable Scheduled run) {
    return submitOnce(queue, id, params, run, null);
  }

  /**
   * Adds a queued task for each of these runs of a schedule to a transaction of another layer.
   *
   * @param trace gives the span to which the task of a run belongs; null for none
   * @return the ids that the tasks will have, in the order given
   * @throws InvalidRequestException if the store would not accept the params
   */
  public List<ObjectId> submitWith(
      Transaction.Builder transaction,
      Queue queue,
      ObjectNode params,
      List<Scheduled> runs,
      Function<Scheduled, @Nullable TraceContext> trace) {
    checkKnown(queue, params);
    List<QueueTask> tasks = new ArrayList<>();
    List<Bytes> bodies = new ArrayList<>();
    for (Scheduled run : runs) {
      ObjectId id = session.newId();
      Terms terms = Terms.DEFAULTS.in(trace.apply(run));
      QueueTask task = task(queue, id, params, terms, session.nowMillis()).with(run);
      Bytes body = QueueTask.write(task, id.hex());
      check(params, body);
      tasks.add(task);
      bodies.add(body);
    }
    transaction.depend(Keys.queue(queue.id()), DocumentVersion.ANY);
    QueueRegistry.ring(transaction, queue.id(), Duration.ZERO);
    for (int i = 0; i < tasks.size(); i++) {
      add(transaction, tasks.get(i), Duration.ZERO, bodies.get(i));
    }
    return tasks.stream().map(QueueTask::id).toList();
  }

  /**
   * Creates as many tasks as one transaction may.
   *
   * @param unique by what they are unique; null if they are not
   * @return null if something changed in between, which happens to unique ones only
   */
  private @Nullable List<Submitted> submitSome(
      Queue queue, List<ObjectNode> params, Terms terms, @Nullable UniqueKey unique) {
    long now = session.nowMillis();
    Duration delay = terms.delay(now);
    Transaction.Builder transaction = begin(queue, terms.status(), delay);
    UniqueHolds holds = unique == null ? null : new UniqueHolds(session, queue.id(), unique, now);
    boolean plain = holds == null && deadlines(queue, terms, now).isEmpty();
    int most = plain ? CREATED_AT_ONCE : SPECIAL_AT_ONCE;
    List<Submitted> some = new ArrayList<>();
    int bytes = 0;
    int added = 0;
    try (Json.DocumentWriter writer = Json.writer()) {
      for (ObjectNode each : params) {
        ObjectId id = session.newId();
        QueueTask task = task(queue, id, each, terms, now);
        if (holds != null) {
          ObjectId holder = holds.take(transaction, id, each);
          if (!holder.equals(id)) {
            some.add(new Submitted(holder, true));
            if (some.size() == most) {
              break;
            }
            continue;
          }
          task = task.with(task.progress().with(holds.hold(each)));
        }
        Bytes body = QueueTask.write(task, id.hex(), writer);
        check(each, body);
        bytes += body.size();
        if (added > 0 && bytes > BYTES_AT_ONCE) {
          if (holds != null) {
            // The key of the task that is left for the next transaction is part of this one.
            return submitSome(queue, params.subList(0, some.size()), terms, unique);
          }
          break;
        }
        add(transaction, task, delay, body);
        added++;
        some.add(new Submitted(id, false));
        if (some.size() == most) {
          break;
        }
      }
    }
    if (added > 0 && session.tryCommit(transaction.build()) == null) {
      if (holds != null && session.document(Keys.queue(queue.id())).isPresent()) {
        return null;
      }
      throw noQueue();
    }
    return some;
  }

  private @Nullable QueueTask tryOnce(
      Queue queue,
      ObjectId id,
      ObjectNode params,
      @Nullable Scheduled run,
      @Nullable TraceContext trace) {
    Optional<QueueTask> there = session.document(Keys.task(id)).map(QueueTask::read);
    if (there.isPresent()) {
      return there.get();
    }
    if (session.document(Keys.queue(queue.id())).isEmpty()) {
      throw noQueue();
    }
    checkKnown(queue, params);
    Transaction.Builder transaction = begin(queue, Status.QUEUED, Duration.ZERO);
    QueueTask plain = task(queue, id, params, Terms.DEFAULTS.in(trace), session.nowMillis());
    QueueTask task = run == null ? plain : plain.with(run);
    Bytes body = QueueTask.write(task, id.hex());
    check(params, body);
    add(transaction, task, Duration.ZERO, body);
    return session.tryCommit(transaction.build()) == null
        ? null
        : session.document(Keys.task(id)).map(QueueTask::read).orElse(null);
  }

  private Transaction.Builder begin(Queue queue, int status, Duration delay) {
    Transaction.Builder transaction = session.begin();
    transaction.depend(Keys.queue(queue.id()), DocumentVersion.ANY);
    if (status == Status.QUEUED) {
      QueueRegistry.ring(transaction, queue.id(), delay);
    }
    return transaction;
  }

  private static QueueTask task(
      Queue queue, ObjectId id, ObjectNode params, Terms terms, long nowMillis) {
    long delayMillis = terms.delay(nowMillis).toMillis();
    Progress progress =
        Progress.first(terms.status(), nowMillis).with(deadlines(queue, terms, nowMillis));
    return new QueueTask(
        id,
        queue.id(),
        params,
        null,
        terms.trace(),
        nowMillis,
        inLane(terms.policy(), queue.settings().policy(), params),
        delayMillis == 0 ? progress : progress.notBefore(nowMillis + delayMillis),
        TaskOutput.NONE,
        new Place(0, 0));
  }

  /** The settings of a task with its key and priority, which do not change with its queue's. */
  private static Policy inLane(Policy own, Policy defaults, ObjectNode params) {
    Policy both = own.over(defaults);
    String key = both.key().orElse("");
    if (own.key().isEmpty() && both.keyField().isPresent()) {
      key = key(both.keyField().get(), params.get(both.keyField().get()));
    }
    Map<String, String> lane = new HashMap<>();
    if (!key.equals(own.key().orElse(""))) {
      lane.put(Policy.Field.KEY.key(), key);
    }
    if (both.priority() != own.priority()) {
      lane.put(Policy.Field.PRIORITY.key(), Integer.toString(both.priority()));
    }
    try {
      return own.with(lane);
    } catch (PolicyException e) {
      throw new InvalidRequestException(e.field(), String.valueOf(e.getMessage()));
    }
  }

  /** The value of a param as a key; none if it is absent, null or empty. */
  private static String key(String field, @Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return "";
    }
    if (value.isObject() || value.isArray()) {
      throw new InvalidRequestException(
          field,
          "param " + field + " is the key of the task, and must be a text, number or boolean");
    }
    return value.asString();
  }

  private static Deadlines deadlines(Queue queue, Terms terms, long nowMillis) {
    Policy policy = terms.policy().over(queue.settings().policy());
    return policy.isEmpty()
        ? Deadlines.NONE
        : Deadlines.of(policy, nowMillis + terms.delay(nowMillis).toMillis());
  }

  private static void add(
      Transaction.Builder transaction, QueueTask task, Duration delay, Bytes body) {
    When when = delay.isZero() ? When.now() : When.after(delay);
    String name = task.id().hex();
    String group = Queue.group(task.queue(), task.status());
    Task.Lane lane = task.status() == Status.QUEUED ? task.policy().lane() : null;
    transaction.add(new Add(group, Bytes.of(name), when, false, name, lane));
    transaction.put(new Put(Keys.task(task.id()), DocumentVersion.ABSENT, body, true));
    TaskTransitions.watch(transaction, 0, task);
  }

  /** Refuses params that leave no room for what is stored of the task besides them. */
  private void check(ObjectNode params, Bytes body) {
    if (body.size() <= session.paramsBytes()) {
      return;
    }
    int size = Json.write(params).size();
    if (size > session.paramsBytes()) {
      String begin = params.toString().substring(0, SHOWN_CHARS);
      throw new InvalidRequestException(
          "params",
          "the params of a task have %d bytes of JSON, and may have %d: %s…"
              .formatted(size, session.paramsBytes(), begin));
    }
  }

  private static InvalidRequestException noQueue() {
    return new InvalidRequestException("queue", "queue not found");
  }
}
