package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import io.millrace.store.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.GroupSummary;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.kernel.records.Event;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Everything a store knows. Changed only by {@link #apply} and {@link #advance}; both depend on
 * nothing but their arguments, so replay ends where the live store was.
 */
final class State {
  /** Written out, as the one behind {@code comparing} serves all orders and is inlined in none. */
  private static final Comparator<Document> BY_KEY =
      (left, right) -> left.key().compareTo(right.key());

  /**
   * The most tasks that one call of {@link #advance} moves, so that it takes a few milliseconds.
   */
  static final int MOVES = 2_000;

  private final Edition edition;
  private final OrderedTree<Group> groups;
  private final OrderedTree<Document> documents;
  private final TaskNumbers tasks = new TaskNumbers();
  private final Alarms alarms = new Alarms();
  private final Requests requests;
  private final List<String> stirred = new ArrayList<>();
  private @Nullable Group latest;
  private long lastId;
  private long commits;
  private long timeMillis;
  private long memoryBytes;

  /** An empty state. */
  State() {
    this(TreeNode.CAPACITY);
  }

  /** An empty state whose trees have nodes of up to so many elements, at least 4. */
  State(int nodeCapacity) {
    edition = new Edition(nodeCapacity);
    groups = new OrderedTree<>(Group.BY_NAME, edition);
    documents = new OrderedTree<>(BY_KEY, edition);
    requests = new Requests(edition);
  }

  long lastId() {
    return lastId;
  }

  long commits() {
    return commits;
  }

  /** The latest store time that this state has seen. */
  long timeMillis() {
    return timeMillis;
  }

  /** What everything here takes, by an estimate that is a little too large. */
  long memoryBytes() {
    return memoryBytes;
  }

  int taskCount() {
    return tasks.size();
  }

  int documentCount() {
    return documents.size();
  }

  @Nullable Task find(TaskRef ref) {
    return tasks.find(ref);
  }

  @Nullable Group group(String name) {
    Group group = latest;
    if (group != null && group.name().equals(name)) {
      return group;
    }
    group = groups.find(Group.probe(name));
    latest = group;
    return group;
  }

  @Nullable Document document(DocumentKey key) {
    return documents.find(new Document(key, 0, Bytes.EMPTY));
  }

  Requests requests() {
    return requests;
  }

  /** Applies a commit whose changes fit this state. */
  void apply(Event event) {
    commits = event.number();
    timeMillis = Math.max(timeMillis, event.timeMillis());
    for (Change change : event.changes()) {
      apply(change);
    }
    if (event.request() != null) {
      remember(event);
    }
  }

  private void remember(Event event) {
    Event former = requests.remember(event);
    memoryBytes += Sizes.of(event) - (former == null ? 0 : Sizes.of(former));
  }

  private void apply(Change change) {
    switch (change) {
      case Change.Added(Task task) -> put(task);
      case Change.Changed(long oldId, Task task, boolean _) -> {
        remove(oldId);
        put(task);
      }
      case Change.Deleted(long id, long _, String _) -> remove(id);
      case Change.DocumentPut(long oldVersion, Document document) -> {
        if (oldVersion != DocumentVersion.ABSENT) {
          drop(Objects.requireNonNull(document(document.key())));
        }
        put(document);
      }
      case Change.DocumentDeleted(DocumentKey key, long _) ->
          drop(Objects.requireNonNull(document(key)));
    }
  }

  /** Adds a task; also used by recovery, for those of a snapshot. */
  void put(Task task) {
    lastId = Math.max(lastId, task.id());
    tasks.put(task);
    memoryBytes += Sizes.of(task);
    Group group = group(task.group());
    if (group == null) {
      group = Group.named(task.group(), edition);
      groups.insert(group);
      memoryBytes += Sizes.ofGroup(task.group());
    }
    group = open(group);
    long alarm = group.alarm();
    group.add(task, timeMillis);
    alarms.reset(group, alarm);
    if (task.availableAtMillis() <= timeMillis) {
      stir(group);
    }
  }

  private void remove(long id) {
    Task task = tasks.remove(id);
    memoryBytes -= Sizes.of(task);
    Group group = open(Objects.requireNonNull(group(task.group())));
    long alarm = group.alarm();
    int claimed = group.claimedCount();
    group.remove(task, timeMillis);
    alarms.reset(group, alarm);
    if (group.isEmpty()) {
      groups.remove(group);
      latest = null;
      memoryBytes -= Sizes.ofGroup(group.name());
    } else if (group.claimedCount() < claimed) {
      stir(group);
    }
  }

  /** The group, ready to be changed. */
  private Group open(Group group) {
    Group open = group.writable(edition.current());
    if (!open.equals(group)) {
      groups.replace(open);
    }
    latest = open;
    return open;
  }

  private void stir(Group group) {
    if (stirred.isEmpty() || !stirred.getLast().equals(group.name())) {
      stirred.add(group.name());
    }
  }

  /** Adds or replaces a document; also used by recovery. */
  void put(Document document) {
    lastId = Math.max(lastId, document.version());
    documents.insert(document);
    memoryBytes += Sizes.of(document);
  }

  private void drop(Document document) {
    documents.remove(document);
    memoryBytes -= Sizes.of(document);
  }

  /**
   * The event with the data that the journal leaves out where a change kept it; to be asked before
   * the event is applied.
   */
  Event complete(Event event) {
    List<Change> changes = new ArrayList<>(event.changes().size());
    for (Change change : event.changes()) {
      if (change instanceof Change.Changed(long oldId, Task task, boolean kept) && kept) {
        Task old = Objects.requireNonNull(tasks.find(TaskRef.id(oldId)));
        changes.add(new Change.Changed(oldId, Tasks.withData(task, old.data()), true));
      } else {
        changes.add(change);
      }
    }
    return new Event(
        event.number(),
        event.timeMillis(),
        event.client(),
        event.override(),
        changes,
        event.request());
  }

  /** Puts back what recovery read of the counters. */
  void restore(long lastId, long commits, long timeMillis) {
    this.lastId = Math.max(this.lastId, lastId);
    this.commits = commits;
    this.timeMillis = Math.max(this.timeMillis, timeMillis);
  }

  /** Puts back a remembered request of a snapshot. */
  void restore(Event remembered) {
    remember(remembered);
  }

  /**
   * Lets store time pass: delayed tasks whose time has come and claims whose lease has ended become
   * waiting, and old answers are forgotten; at most {@link #MOVES} of them in one call.
   *
   * @return whether something due is left for another call
   */
  boolean advance(long nowMillis) {
    timeMillis = Math.max(timeMillis, nowMillis);
    int moves = 0;
    for (String due = alarms.due(timeMillis);
        moves < MOVES && due != null;
        due = alarms.due(timeMillis)) {
      Group group = open(Objects.requireNonNull(group(due)));
      long alarm = group.alarm();
      while (moves < MOVES && group.alarm() <= timeMillis) {
        group.release();
        moves++;
      }
      alarms.reset(group, alarm);
      stir(group);
    }
    while (moves < MOVES) {
      Event forgotten = requests.forgetOne(timeMillis);
      if (forgotten == null) {
        break;
      }
      memoryBytes -= Sizes.of(forgotten);
      moves++;
    }
    return alarm() <= timeMillis;
  }

  /** When the next call of {@link #advance} has something to do. */
  long alarm() {
    return Math.min(alarms.earliest(), requests.alarm());
  }

  /** The groups in which a claim may find more than before, since the last call; may repeat. */
  List<String> takeStirred() {
    if (stirred.isEmpty()) {
      return List.of();
    }
    List<String> taken = List.copyOf(stirred);
    stirred.clear();
    return taken;
  }

  /** Forgets which groups were stirred, where nobody waits. */
  void clearStirred() {
    stirred.clear();
  }

  /** Everything as it is now, for readers on other threads. */
  FrozenState freeze() {
    FrozenState frozen =
        new FrozenState(
            lastId, commits, timeMillis, groups.freeze(), documents.freeze(), requests.frozen());
    edition.next();
    return frozen;
  }

  /** The tasks of one group as they are now. */
  @Nullable Group freezeGroup(String name) {
    Group group = group(name);
    if (group != null) {
      edition.next();
    }
    return group;
  }

  /** All groups as they are now. */
  List<GroupSummary> freezeSummaries() {
    FrozenTree<Group> frozen = groups.freeze();
    edition.next();
    return new MappedList<>(frozen, Group::summary);
  }

  /** All documents as they are now. */
  FrozenTree<Document> freezeDocuments() {
    FrozenTree<Document> frozen = documents.freeze();
    edition.next();
    return frozen;
  }
}
