package io.millrace.store.testkit.simulation;

import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Throttling;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The expected content of a store, in plain maps: slow and simple. It has no indexes and no
 * journal; whatever depends on time is computed on request.
 */
final class Model {
  /** How long an answer is remembered for its request id. */
  static final long REMEMBERED_MILLIS = 600_000;

  /** An answer to a command with a request id. */
  record RememberedAnswer(Command command, Outcome.Done answer) {}

  private record RequestKey(String principal, String id) {}

  private static final Comparator<Task> BY_TIME =
      Comparator.comparingLong(Task::availableAtMillis).thenComparingLong(Task::origin);

  /** Those with a key or priority first. */
  private static final Comparator<Task> BY_LANE =
      Comparator.<Task, Boolean>comparing(task -> task.lane() == null).thenComparing(BY_TIME);

  private final TreeMap<Long, Task> tasks = new TreeMap<>();
  private final Map<Long, Long> idsByOrigin = new HashMap<>();
  private final TreeMap<DocumentKey, Document> documents = new TreeMap<>();
  private final Map<RequestKey, RememberedAnswer> remembered = new HashMap<>();
  private final Map<Long, RememberedAnswer> everRemembered = new HashMap<>();
  private final Map<List<String>, Long> fullAt = new HashMap<>();
  private long lastId;
  private long number;
  private long timeMillis;

  /** The number of the last commit. */
  long number() {
    return number;
  }

  /** The store time of the last commit. */
  long timeMillis() {
    return timeMillis;
  }

  /** The largest id or version ever given. */
  long lastId() {
    return lastId;
  }

  /** Removes everything. */
  void clear() {
    tasks.clear();
    idsByOrigin.clear();
    documents.clear();
    remembered.clear();
    everRemembered.clear();
    fullAt.clear();
    lastId = 0;
    number = 0;
    timeMillis = 0;
  }

  /** The minimum memory of tasks and documents: 144 bytes and its data for each task. */
  long leastBytes() {
    return tasks.values().stream().mapToLong(task -> 144L + task.data().size()).sum()
        + documents.values().stream().mapToLong(document -> document.body().size()).sum();
  }

  /** Reserves all ids up to this one, used or not. */
  void retireIds(long largest) {
    lastId = Math.max(lastId, largest);
  }

  int size() {
    return tasks.size();
  }

  /** All tasks by id. */
  List<Task> tasks() {
    return List.copyOf(tasks.values());
  }

  /**
   * The task with this id or the next larger one, otherwise the first one; null if there are none.
   */
  @Nullable Task someTask(long id) {
    Map.@Nullable Entry<Long, Task> entry = tasks.ceilingEntry(id);
    if (entry == null) {
      entry = tasks.firstEntry();
    }
    return entry == null ? null : entry.getValue();
  }

  @Nullable Task find(TaskRef ref) {
    @Nullable Long id = ref.id() != 0 ? Long.valueOf(ref.id()) : idsByOrigin.get(ref.origin());
    @Nullable Task task = id == null ? null : tasks.get(id);
    return task == null || (ref.origin() != 0 && task.origin() != ref.origin()) ? null : task;
  }

  @Nullable Document document(DocumentKey key) {
    return documents.get(key);
  }

  /** All documents in order of their keys. */
  List<Document> documents() {
    return List.copyOf(documents.values());
  }

  /** The tasks of a group that can be claimed: with a lane, then the others, the oldest first. */
  List<Task> waiting(String group, long nowMillis) {
    return tasks.values().stream()
        .filter(task -> task.group().equals(group))
        .filter(task -> task.stateAt(nowMillis) == Task.State.WAITING)
        .sorted(BY_LANE)
        .toList();
  }

  /** The tasks of a group that cannot be claimed now, by time. */
  List<Task> busy(String group, long nowMillis) {
    return tasks.values().stream()
        .filter(task -> task.group().equals(group))
        .filter(task -> task.stateAt(nowMillis) != Task.State.WAITING)
        .sorted(BY_TIME)
        .toList();
  }

  /** Whether a claim on the task is alive. */
  static boolean liveClaim(Task task, long nowMillis) {
    return task.token() != 0 && task.stateAt(nowMillis) == Task.State.CLAIMED;
  }

  /** The number of claimed tasks of a group. */
  int claimed(String group, long nowMillis) {
    return (int) busy(group, nowMillis).stream().filter(task -> task.token() != 0).count();
  }

  /** The limits of a group. */
  Throttling limits(String group) {
    return StartRules.read(limitsDocument(group));
  }

  /** The document with the limits of a group: its own or that of the longest prefix, or null. */
  @Nullable Document limitsDocument(String group) {
    @Nullable Document found = documents.get(Throttling.ofGroup(group));
    for (int length = group.length(); found == null && length > 0; length--) {
      found = documents.get(Throttling.ofPrefix(group.substring(0, length)));
    }
    return found;
  }

  /** A shared limit. */
  Throttling.Limit sharedLimit(String name) {
    return StartRules.read(documents.get(Throttling.shared(name))).group();
  }

  /** See {@link Throttling.Limit#possible}. */
  long fullAt(List<String> limit) {
    return fullAt.getOrDefault(limit, 0L);
  }

  /** Records that a task, as it was before, has started. */
  void started(Task old, long nowMillis) {
    fullAt.putAll(new StartRules(this, nowMillis).afterStart(old));
  }

  List<GroupSummary> summaries(long nowMillis) {
    TreeSet<String> names = new TreeSet<>();
    tasks.values().forEach(task -> names.add(task.group()));
    List<GroupSummary> summaries = new ArrayList<>();
    for (String name : names) {
      List<Task> busy = busy(name, nowMillis);
      long owned = busy.stream().filter(task -> task.owner() != null).count();
      summaries.add(
          new GroupSummary(
              name,
              waiting(name, nowMillis).size(),
              busy.size() - owned,
              owned,
              claimed(name, nowMillis)));
    }
    return summaries;
  }

  /** The answer remembered under a command's request id at a time; null for none. */
  @Nullable RememberedAnswer recall(Command command, long nowMillis) {
    String id = command.requestId();
    if (id == null) {
      return null;
    }
    RememberedAnswer found = remembered.get(new RequestKey(command.client().principal(), id));
    return found == null || found.answer().timeMillis() + REMEMBERED_MILLIS <= nowMillis
        ? null
        : found;
  }

  /** The answer to a command with a request id that made commit {@code number}; null for none. */
  @Nullable RememberedAnswer rememberedAt(long number) {
    return everRemembered.get(number);
  }

  void remove(Task task) {
    tasks.remove(task.id());
    idsByOrigin.remove(task.origin());
  }

  void put(Task task) {
    tasks.put(task.id(), task);
    idsByOrigin.put(task.origin(), task.id());
    lastId = Math.max(lastId, task.id());
  }

  void remove(DocumentKey key) {
    documents.remove(key);
  }

  void put(Document document) {
    documents.put(document.key(), document);
    lastId = Math.max(lastId, document.version());
  }

  /** Records a commit whose changes have been applied. */
  void committed(Command command, Outcome.Done answer) {
    number = answer.position().number();
    timeMillis = answer.timeMillis();
    String id = command.requestId();
    if (id != null) {
      RememberedAnswer first = new RememberedAnswer(command, answer);
      remembered.put(new RequestKey(command.client().principal(), id), first);
      everRemembered.put(number, first);
    }
  }
}
