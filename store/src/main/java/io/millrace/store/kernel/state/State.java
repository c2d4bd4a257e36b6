package io.millrace.store.kernel.state;

import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.kernel.records.Event;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a store holds. Changed only by {@link #apply} and {@link #advance}; both depend
 * on nothing but their arguments, so replay ends where the live store was.
 */
public final class State {
  /**
   * The most elements or children of a node of the trees, unless a simulation wants deeper ones.
   */
  public static final int NODE_CAPACITY = TreeNode.CAPACITY;

  /** Written out, as the one behind {@code comparing} serves all orders and is inlined in none. */
  private static final Comparator<Document> BY_KEY =
      (left, right) -> left.key().compareTo(right.key());

  /**
   * The most tasks that one call of {@link #advance} moves, so that it takes a few milliseconds.
   */
  static final int MOVES = 2_000;

  private final CopyGeneration generation;
  private final OrderedTree<Group> groups;
  private final OrderedTree<Document> documents;
  private final TaskIndex tasks = new TaskIndex();
  private final GroupTimers timers = new GroupTimers();
  private final RecentRequests requests;
  private final List<String> groupsWithWork = new ArrayList<>();
  private @Nullable Group latest;
  private long lastId;
  private long commits;
  private long timeMillis;
  private long memoryBytes;

  /** An empty state. */
  public State() {
    this(TreeNode.CAPACITY);
  }

  /** An empty state whose trees have nodes of up to so many elements, at least 4. */
  public State(int nodeCapacity) {
    generation = new CopyGeneration(nodeCapacity);
    groups = new OrderedTree<>(Group.BY_NAME, generation);
    documents = new OrderedTree<>(BY_KEY, generation);
    requests = new RecentRequests(generation);
  }

  /** The largest id or version given so far. */
  public long lastId() {
    return lastId;
  }

  /** The number of commits so far. */
  public long commits() {
    return commits;
  }

  /** The latest store time that this state has seen. */
  public long timeMillis() {
    return timeMillis;
  }

  /** What everything here takes, by an estimate that is a little too large. */
  public long memoryBytes() {
    return memoryBytes;
  }

  /** The number of tasks. */
  public int taskCount() {
    return tasks.size();
  }

  /** The number of documents. */
  public int documentCount() {
    return documents.size();
  }

  /** The task that {@code ref} names, or null. */
  public @Nullable Task find(TaskRef ref) {
    return tasks.find(ref);
  }

  /** The group of this name; null if it has no tasks. */
  public @Nullable Group group(String name) {
    Group group = latest;
    if (group != null && group.name().equals(name)) {
      return group;
    }
    group = groups.find(Group.probe(name));
    latest = group;
    return group;
  }

  /** The document under this key, or null. */
  public @Nullable Document document(DocumentKey key) {
    return documents.find(new Document(key, 0, Bytes.EMPTY));
  }

  /** The requests of the last ten minutes. */
  public RecentRequests requests() {
    return requests;
  }

  /** Applies a commit whose changes fit this state. */
  public void apply(Event event) {
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
  public void put(Task task) {
    lastId = Math.max(lastId, task.id());
    tasks.put(task);
    memoryBytes += Sizes.of(task);
    Group group = group(task.group());
    if (group == null) {
      group = Group.named(task.group(), generation);
      groups.insert(group);
      memoryBytes += Sizes.ofGroup(task.group());
    }
    group = open(group);
    long due = group.nextDueMillis();
    group.add(task, timeMillis);
    timers.reset(group, due);
    if (task.availableAtMillis() <= timeMillis) {
      noteWork(group);
    }
  }

  private void remove(long id) {
    Task task = tasks.remove(id);
    memoryBytes -= Sizes.of(task);
    Group group = open(Objects.requireNonNull(group(task.group())));
    long due = group.nextDueMillis();
    int claimed = group.claimedCount();
    group.remove(task, timeMillis);
    timers.reset(group, due);
    if (group.isEmpty()) {
      groups.remove(group);
      latest = null;
      memoryBytes -= Sizes.ofGroup(group.name());
    } else if (group.claimedCount() < claimed) {
      noteWork(group);
    }
  }

  /** The group, ready to be changed. */
  private Group open(Group group) {
    Group open = group.writable(generation.current());
    if (!open.equals(group)) {
      groups.replace(open);
    }
    latest = open;
    return open;
  }

  private void noteWork(Group group) {
    if (groupsWithWork.isEmpty() || !groupsWithWork.getLast().equals(group.name())) {
      groupsWithWork.add(group.name());
    }
  }

  /** Adds or replaces a document; also used by recovery. */
  public void put(Document document) {
    lastId = Math.max(lastId, document.version());
    documents.insert(document);
    memoryBytes += Sizes.of(document);
  }

  private void drop(Document document) {
    documents.remove(document);
    memoryBytes -= Sizes.of(document);
  }

  /**
   * The event with the data that the journal leaves out if a change kept it; to be called before
   * the event is applied.
   */
  public Event complete(Event event) {
    List<Change> changes = new ArrayList<>(event.changes().size());
    for (Change change : event.changes()) {
      if (change instanceof Change.Changed(long oldId, Task task, boolean kept) && kept) {
        Task old = Objects.requireNonNull(tasks.find(TaskRef.id(oldId)));
        changes.add(new Change.Changed(oldId, task.withData(old.data()), true));
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
  public void restore(long lastId, long commits, long timeMillis) {
    this.lastId = Math.max(this.lastId, lastId);
    this.commits = commits;
    this.timeMillis = Math.max(this.timeMillis, timeMillis);
  }

  /** Puts back a remembered request of a snapshot. */
  public void restore(Event remembered) {
    remember(remembered);
  }

  /**
   * Lets store time pass: delayed tasks whose time has come and claims whose lease has ended become
   * waiting, and old answers are forgotten; at most {@link #MOVES} of them in one call.
   *
   * @return whether something due is left for another call
   */
  public boolean advance(long nowMillis) {
    timeMillis = Math.max(timeMillis, nowMillis);
    int moves = 0;
    for (String name = timers.due(timeMillis);
        moves < MOVES && name != null;
        name = timers.due(timeMillis)) {
      Group group = open(Objects.requireNonNull(group(name)));
      long due = group.nextDueMillis();
      while (moves < MOVES && group.nextDueMillis() <= timeMillis) {
        group.release();
        moves++;
      }
      timers.reset(group, due);
      noteWork(group);
    }
    while (moves < MOVES) {
      Event forgotten = requests.forgetOne(timeMillis);
      if (forgotten == null) {
        break;
      }
      memoryBytes -= Sizes.of(forgotten);
      moves++;
    }
    return nextDueMillis() <= timeMillis;
  }

  /** When the next call of {@link #advance} has something to do. */
  public long nextDueMillis() {
    return Math.min(timers.earliest(), requests.nextDueMillis());
  }

  /** The groups in which a claim may find more than before, since the last call; may repeat. */
  public List<String> takeGroupsWithWork() {
    if (groupsWithWork.isEmpty()) {
      return List.of();
    }
    List<String> taken = List.copyOf(groupsWithWork);
    groupsWithWork.clear();
    return taken;
  }

  /** Forgets the groups with work, for when no claim waits. */
  public void clearGroupsWithWork() {
    groupsWithWork.clear();
  }

  /** Everything as it is now, for readers on other threads. */
  public FrozenState freeze() {
    FrozenState frozen =
        new FrozenState(
            lastId, commits, timeMillis, groups.freeze(), documents.freeze(), requests.frozen());
    generation.next();
    return frozen;
  }

  /** The tasks of one group as they are now. */
  public List<Task> freezeGroup(GroupQuery query) {
    Group group = group(query.group());
    if (group == null) {
      return List.of();
    }
    generation.next();
    return Listings.tasks(group, query);
  }

  /** All groups as they are now. */
  public List<GroupSummary> freezeSummaries() {
    FrozenTree<Group> frozen = groups.freeze();
    generation.next();
    return Listings.summaries(frozen);
  }

  /** All documents as they are now. */
  public FrozenTree<Document> freezeDocuments() {
    FrozenTree<Document> frozen = documents.freeze();
    generation.next();
    return frozen;
  }

  /** The groups that have delayed tasks or leases, by the time at which the first is due. */
  private static final class GroupTimers {
    private record Timer(long timeMillis, String group) {}

    private final TreeSet<Timer> timers =
        new TreeSet<>(Comparator.comparingLong(Timer::timeMillis).thenComparing(Timer::group));

    /** Notes that the time of a group may have changed from {@code before}. */
    void reset(Group group, long before) {
      long after = group.nextDueMillis();
      if (before != after) {
        if (before != Group.NEVER) {
          timers.remove(new Timer(before, group.name()));
        }
        if (after != Group.NEVER) {
          timers.add(new Timer(after, group.name()));
        }
      }
    }

    /** The group that has been due longest; null if none is due. */
    @Nullable String due(long nowMillis) {
      return earliest() <= nowMillis && !timers.isEmpty() ? timers.first().group() : null;
    }

    /** When the next group is due; {@link Long#MAX_VALUE} for never. */
    long earliest() {
      return timers.isEmpty() ? Long.MAX_VALUE : timers.first().timeMillis();
    }
  }
}
