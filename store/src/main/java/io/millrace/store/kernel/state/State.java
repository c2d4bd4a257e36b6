package io.millrace.store.kernel.state;

import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.JournalRecord.KeptStarts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The state of a store. Only {@link #apply} and {@link #advance} change it, and both depend only on
 * their arguments, so replay results in the same state. Recovery also adds the content of a
 * snapshot.
 */
public final class State {
  /** The normal largest number of elements or children of a tree node. */
  public static final int NODE_CAPACITY = TreeNode.CAPACITY;

  /** A lambda, because the shared comparator of {@code Comparator.comparing} is not inlined. */
  static final Comparator<Document> BY_KEY = (left, right) -> left.key().compareTo(right.key());

  /** The largest number of tasks that one call of {@link #advance} moves, which takes a few ms. */
  static final int MOVES = 2_000;

  private final CopyGeneration generation;
  private final OrderedTree<Group> groups;
  private final OrderedTree<Document> documents;
  private final TaskIndex tasks = new TaskIndex();
  private final GroupTimers timers = new GroupTimers();
  private final RecentRequests requests;
  private final Throttles throttles;
  private final List<String> groupsWithWork = new ArrayList<>();
  private @Nullable Group latest;
  private long lastId;
  private long commits;
  private long timeMillis;
  private long memoryBytes;
  private long lapsedClaims;

  /** An empty state. */
  public State() {
    this(TreeNode.CAPACITY);
  }

  /** An empty state whose tree nodes have at most this many elements, at least 4. */
  public State(int nodeCapacity) {
    generation = new CopyGeneration(nodeCapacity);
    groups = new OrderedTree<>(Group.BY_NAME, generation);
    documents = new OrderedTree<>(BY_KEY, generation);
    requests = new RecentRequests(generation);
    throttles = new Throttles(generation);
  }

  /** The largest id or version given so far. */
  public long lastId() {
    return lastId;
  }

  /** The number of commits so far. */
  public long commits() {
    return commits;
  }

  /** The store time of the last change or advance. */
  public long timeMillis() {
    return timeMillis;
  }

  /** The estimated memory of the state in bytes, a little too large. */
  public long memoryBytes() {
    return memoryBytes + throttles.memoryBytes();
  }

  /** How many claims have ended because their lease did, since the state was made. */
  public long lapsedClaims() {
    return lapsedClaims;
  }

  /** The number of tasks. */
  public int taskCount() {
    return tasks.size();
  }

  /** The number of documents. */
  public int documentCount() {
    return documents.size();
  }

  /** The task of a reference, or null. */
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

  /** The document with this key, or null. */
  public @Nullable Document document(DocumentKey key) {
    return documents.find(new Document(key, 0, Bytes.EMPTY));
  }

  /** The remembered requests. */
  public RecentRequests requests() {
    return requests;
  }

  /** Applies a commit, whose changes must fit this state. */
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
        // Only a claim gives a task its own id as the token.
        if (task.token() == task.id()) {
          started(task);
        }
      }
      case Change.Deleted(long id, long _, String _) -> remove(id);
      case Change.DocumentPut(long oldVersion, Document document) -> {
        if (oldVersion != DocumentVersion.ABSENT) {
          drop(Objects.requireNonNull(document(document.key())));
        }
        put(document);
      }
      case Change.DocumentDeleted(DocumentKey key, long _) -> {
        drop(Objects.requireNonNull(document(key)));
        if (Throttling.isSetBy(key)) {
          setLimits(key, null);
        }
      }
    }
  }

  /** Adds a task. Recovery calls this for the tasks of a snapshot. */
  public void put(Task task) {
    lastId = Math.max(lastId, task.id());
    tasks.put(task);
    memoryBytes += Sizes.of(task);
    Group group = group(task.group());
    if (group == null) {
      GroupLimits limits = throttles.of(task.group());
      group = Group.named(task.group(), limits, generation);
      groups.insert(group);
      if (limits != null) {
        limits.groups.add(task.group());
      }
      memoryBytes += Sizes.ofGroup(task.group());
    }
    group = open(group);
    long due = group.nextDueMillis();
    int claimed = group.claimedCount();
    group.add(task, timeMillis, throttles);
    throttles.count(group.limits(), group.claimedCount() - claimed);
    timers.reset(group, due);
    if (task.availableAtMillis() <= timeMillis) {
      noteWork(group);
    }
  }

  private void started(Task task) {
    // Claims change a group even if it has no limits, so it may be changed in place here.
    Group group = group(task.group());
    if (group != null) {
      group.started(task.key(), timeMillis, throttles);
    }
  }

  private void remove(long id) {
    Task task = tasks.remove(id);
    memoryBytes -= Sizes.of(task);
    Group group = open(Objects.requireNonNull(group(task.group())));
    long due = group.nextDueMillis();
    int claimed = group.claimedCount();
    group.remove(task, timeMillis);
    GroupLimits limits = group.limits();
    noteWork(throttles.count(limits, group.claimedCount() - claimed));
    timers.reset(group, due);
    if (group.isEmpty()) {
      groups.remove(group);
      if (limits != null) {
        limits.groups.remove(group.name());
      }
      latest = null;
      memoryBytes -= Sizes.ofGroup(group.name());
    } else if (group.claimedCount() < claimed) {
      noteWork(group);
    }
  }

  /** The group, or a copy that may be changed. */
  private Group open(Group group) {
    Group open = group.writable(generation.current());
    if (!open.equals(group)) {
      groups.replace(open);
    }
    latest = open;
    return open;
  }

  private void noteWork(Group group) {
    noteWork(group.name());
  }

  private void noteWork(List<String> groups) {
    groups.forEach(this::noteWork);
  }

  private void noteWork(String group) {
    if (groupsWithWork.isEmpty() || !groupsWithWork.getLast().equals(group)) {
      groupsWithWork.add(group);
    }
  }

  /** Adds a document. Recovery calls this for the documents of a snapshot. */
  public void put(Document document) {
    lastId = Math.max(lastId, document.version());
    documents.insert(document);
    memoryBytes += Sizes.of(document);
    if (Throttling.isSetBy(document.key())) {
      setLimits(document.key(), document);
    }
  }

  private void drop(Document document) {
    documents.remove(document);
    memoryBytes -= Sizes.of(document);
  }

  private void setLimits(DocumentKey key, @Nullable Document document) {
    if (Throttling.isShared(key)) {
      noteWork(throttles.setShared(key.key(), document, timeMillis));
      return;
    }
    List<Group> affected = groupsOf(key).stream().map(this::open).toList();
    affected.forEach(group -> bind(group, null));
    noteWork(throttles.set(key, document, timeMillis));
    affected.forEach(group -> bind(group, throttles.of(group.name())));
    for (Group group : affected) {
      group.refreshAll(timeMillis);
      noteWork(group);
    }
  }

  /** The groups to which the limits of a document may apply. */
  private List<Group> groupsOf(DocumentKey key) {
    if (Throttling.isOfGroup(key)) {
      Group group = group(key.key());
      return group == null ? List.of() : List.of(group);
    }
    List<Group> found = new ArrayList<>();
    for (int i = groups.rank(Group.probe(key.key())); i < groups.size(); i++) {
      Group group = groups.select(i);
      if (!group.name().startsWith(key.key())) {
        break;
      }
      found.add(group);
    }
    return found;
  }

  private void bind(Group group, @Nullable GroupLimits next) {
    GroupLimits old = group.limits();
    if (old != null) {
      old.groups.remove(group.name());
      noteWork(throttles.count(old, -group.claimedCount()));
    }
    group.bind(next);
    if (next != null) {
      next.groups.add(group.name());
      throttles.count(next, group.claimedCount());
    }
  }

  /**
   * The event with the data of all tasks: the journal leaves out data that did not change. Called
   * before the event is applied.
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

  /** Restores the counters of a snapshot. */
  public void restore(long lastId, long commits, long timeMillis) {
    this.lastId = Math.max(this.lastId, lastId);
    this.commits = commits;
    this.timeMillis = Math.max(this.timeMillis, timeMillis);
  }

  /** Restores what a snapshot says of the latest starts, after its tasks and documents. */
  public void restore(KeptStarts starts) {
    throttles.restore(starts, timeMillis);
    if (!starts.key().isEmpty()) {
      for (String name : throttles.groups(starts.scope(), starts.name())) {
        Group group = group(name);
        if (group != null) {
          group.restoreStarts(starts.key(), starts.fullAtMicros(), timeMillis);
        }
      }
    }
  }

  /** Restores a remembered request of a snapshot. */
  public void restore(Event remembered) {
    remember(remembered);
  }

  /**
   * Advances store time: delayed tasks whose time has come and claimed tasks whose lease has ended
   * become waiting, and old requests are removed; at most {@link #MOVES} in one call.
   *
   * @return whether another call has something to do now
   */
  public boolean advance(long nowMillis) {
    timeMillis = Math.max(timeMillis, nowMillis);
    int moves = 0;
    for (String name = timers.due(timeMillis);
        moves < MOVES && name != null;
        name = timers.due(timeMillis)) {
      Group group = open(Objects.requireNonNull(group(name)));
      long due = group.nextDueMillis();
      int claimed = group.claimedCount();
      while (moves < MOVES && group.nextDueMillis() <= timeMillis) {
        group.release(timeMillis);
        moves++;
      }
      lapsedClaims += claimed - group.claimedCount();
      noteWork(throttles.count(group.limits(), group.claimedCount() - claimed));
      timers.reset(group, due);
      noteWork(group);
    }
    for (Throttles.Wakeup wakeup = null;
        moves < MOVES && (wakeup = throttles.due(timeMillis)) != null;
        moves++) {
      wake(wakeup);
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

  private void wake(Throttles.Wakeup wakeup) {
    for (String name : throttles.groups(wakeup.scope(), wakeup.name())) {
      Group group = group(name);
      if (group != null) {
        group.refresh(wakeup.key(), timeMillis);
        noteWork(name);
      }
    }
  }

  /** The store time at which {@link #advance} next has something to do. */
  public long nextDueMillis() {
    return Math.min(
        Math.min(timers.earliest(), throttles.nextDueMillis()), requests.nextDueMillis());
  }

  /**
   * Takes the groups in which claims may find more tasks than at the last call; a name may occur
   * several times.
   */
  public List<String> takeGroupsWithWork() {
    if (groupsWithWork.isEmpty()) {
      return List.of();
    }
    List<String> taken = List.copyOf(groupsWithWork);
    groupsWithWork.clear();
    return taken;
  }

  /** Discards the groups with work; called if no claim waits. */
  public void clearGroupsWithWork() {
    groupsWithWork.clear();
  }

  /** The current state, for readers on other threads. */
  public FrozenState freeze() {
    FrozenState frozen =
        new FrozenState(
            lastId,
            commits,
            timeMillis,
            groups.freeze(),
            documents.freeze(),
            throttles.freeze(),
            requests.frozen());
    generation.next();
    return frozen;
  }

  /** The current tasks of one group, as {@link Listings#tasks} takes them. */
  public Group.@Nullable Frozen freezeGroup(String name) {
    Group group = group(name);
    if (group == null) {
      return null;
    }
    generation.next();
    return group.freeze();
  }

  /** All current groups. */
  public List<GroupSummary> freezeSummaries() {
    return Listings.summaries(freezeGroups());
  }

  /** All current groups, for {@link Listings#oldestWaiting}. */
  public FrozenTree<Group> freezeGroups() {
    FrozenTree<Group> frozen = groups.freeze();
    generation.next();
    return frozen;
  }

  /** All current documents. */
  public FrozenTree<Document> freezeDocuments() {
    FrozenTree<Document> frozen = documents.freeze();
    generation.next();
    return frozen;
  }

  /** The groups with held tasks, by the time at which the first of them is due. */
  private static final class GroupTimers {
    private record Timer(long timeMillis, String group) {}

    private final TreeSet<Timer> timers =
        new TreeSet<>(Comparator.comparingLong(Timer::timeMillis).thenComparing(Timer::group));

    /** Updates the time of a group, which was {@code before}. */
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

    /** The group that has been due for the longest time; null if none is due. */
    @Nullable String due(long nowMillis) {
      return earliest() <= nowMillis && !timers.isEmpty() ? timers.first().group() : null;
    }

    /** When the next group is due; {@link Long#MAX_VALUE} for never. */
    long earliest() {
      return timers.isEmpty() ? Long.MAX_VALUE : timers.first().timeMillis();
    }
  }
}
