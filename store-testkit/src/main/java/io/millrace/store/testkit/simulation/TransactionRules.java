package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import io.millrace.store.testkit.simulation.ExpectedOutcome.Cause;
import io.millrace.store.testkit.simulation.ExpectedOutcome.NewDocument;
import io.millrace.store.testkit.simulation.ExpectedOutcome.NewTask;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The documented rules for a transaction, applied to a model at a time: every reason to refuse it,
 * and the result of the parts that could be done by themselves. Each rule is independent of the
 * others and visits all parts that it concerns. The memory budget is left out, since only the store
 * knows how much memory things need.
 */
final class TransactionRules {
  /** A task that the transaction refers to; {@code purpose} distinguishes parts of one kind. */
  private record Part(TaskRef task, Kind missing, String purpose) {}

  private final Model model;
  private final Limits limits;
  private final Transaction transaction;
  private final long now;
  private final List<Cause> causes = new ArrayList<>();

  /** The causes that are listed already. Each is listed once. */
  private final Set<List<@Nullable Object>> listed = new HashSet<>();

  private final List<NewTask> tasks = new ArrayList<>();
  private final List<Task> deletes = new ArrayList<>();
  private final List<NewDocument> documents = new ArrayList<>();
  private final List<Document> documentDeletes = new ArrayList<>();

  /** The index in {@link #tasks} of each local name. */
  private final Map<String, Integer> names = new HashMap<>();

  TransactionRules(Model model, Limits limits, Transaction transaction, long nowMillis) {
    this.model = model;
    this.limits = limits;
    this.transaction = transaction;
    this.now = nowMillis;
    execute();
    judge();
  }

  ExpectedOutcome verdict() {
    if (!causes.isEmpty()) {
      return new ExpectedOutcome.Refused(causes);
    }
    ExpectedOutcome.Done done = done();
    return done.isEmpty() ? new ExpectedOutcome.Nothing() : done;
  }

  /** Every reason to refuse the transaction, in no particular order. */
  List<Cause> causes() {
    return causes;
  }

  /** The result of the parts that could be done. */
  ExpectedOutcome.Done done() {
    return new ExpectedOutcome.Done(tasks, deletes, documents, documentDeletes);
  }

  private void execute() {
    for (Transaction.Add add : transaction.adds()) {
      call(add.localName());
      long time = time(add.when());
      Owner owner = add.owned() && time > now ? transaction.client() : null;
      tasks.add(new NewTask(null, add.group(), time, owner, 0, add.data(), add.lane()));
    }
    for (Transaction.Update update : transaction.updates()) {
      Task old = mine(update.task());
      if (old != null) {
        long time = time(update.when());
        boolean held = time > now;
        Bytes data = update.data() == null ? old.data() : update.data();
        long token = held && Model.liveClaim(old, now) ? old.token() : 0;
        Owner owner = held ? owner(old) : null;
        tasks.add(new NewTask(old, old.group(), time, owner, token, data, old.lane()));
      }
    }
    for (Transaction.Renewal renewal : transaction.renewals()) {
      Task old = mine(renewal.task());
      if (old != null && mayRenew(renewal, old)) {
        long end = after(renewal.leaseMillis());
        tasks.add(
            new NewTask(old, old.group(), end, owner(old), old.token(), old.data(), old.lane()));
      }
    }
    for (Transaction.Taking taking : transaction.takings()) {
      call(taking.localName());
      Task old = mine(taking.task());
      if (old != null && isWaiting(old)) {
        long end = after(taking.leaseMillis());
        Owner client = transaction.client();
        tasks.add(
            new NewTask(old, old.group(), end, client, NewTask.OWN_ID, old.data(), old.lane()));
      }
    }
    for (TaskRef ref : transaction.deletes()) {
      Task old = mine(ref);
      if (old != null) {
        deletes.add(old);
      }
    }
    for (Transaction.Put put : transaction.puts()) {
      if (put.expectedVersion() == DocumentVersion.ANY
          || isThere(put.key(), put.expectedVersion())) {
        documents.add(new NewDocument(put, names));
      }
    }
    for (DocumentVersion delete : transaction.documentDeletes()) {
      Document old = model.document(delete.key());
      if (old != null && isThere(delete.key(), delete.version())) {
        documentDeletes.add(old);
      }
    }
  }

  private void call(@Nullable String localName) {
    if (localName != null) {
      names.putIfAbsent(localName, tasks.size());
    }
  }

  private static boolean inRange(long least, long millis) {
    return least <= millis && millis <= Limits.LARGEST_NUMBER;
  }

  private long after(long millis) {
    return inRange(0, millis) ? Math.min(now + millis, Limits.LARGEST_NUMBER) : now;
  }

  private long time(When when) {
    return when instanceof When.After(long millis) ? after(millis) : when.resolve(now);
  }

  private @Nullable Task find(TaskRef ref) {
    return ref.namesTask() ? model.find(ref) : null;
  }

  /** The task, if it exists and the client may change it. */
  private @Nullable Task mine(TaskRef ref) {
    Task task = find(ref);
    boolean anothers =
        task != null
            && task.stateAt(now) == Task.State.CLAIMED
            && !transaction.override()
            && !transaction.client().equals(task.owner());
    return anothers ? null : task;
  }

  private boolean isWaiting(Task task) {
    return task.stateAt(now) == Task.State.WAITING;
  }

  private boolean mayRenew(Transaction.Renewal renewal, Task task) {
    boolean ownBefore = task.token() != 0 && transaction.client().equals(task.owner());
    return Model.liveClaim(task, now) || (renewal.revive() && ownBefore);
  }

  /** The owner after a renewal: the client, or the former owner if an operator renews the claim. */
  private @Nullable Owner owner(Task old) {
    return transaction.override() && Model.liveClaim(old, now) ? old.owner() : transaction.client();
  }

  /** Whether a document has the expected version. */
  private boolean isThere(DocumentKey key, long expected) {
    Document found = model.document(key);
    return expected == DocumentVersion.ANY
        ? found != null
        : expected == (found == null ? DocumentVersion.ABSENT : found.version());
  }

  private void judge() {
    long client = transaction.client().client();
    malformed(client < 0 || client > Limits.LARGEST_NUMBER, null, "client");
    String requestId = transaction.requestId();
    if (requestId != null) {
      name(requestId, limits.requestIdBytes(), null, "request id");
    }
    malformed(count() == 0, null, "is empty");
    if (isTooLarge()) {
      tooLarge(true, null, "the transaction");
      return;
    }
    List<Part> parts = parts();
    everyNameIsText();
    everyTimeIsInRange();
    everyTaskIsThere(parts);
    nothingIsChangedTwice(parts);
    everyTaskMayBeChanged(parts);
    everyVersionIsTheExpected();
    everyReferenceIsKnown();
    everyDataIsSmallEnough();
    long ids = tasks.size() + (long) transaction.puts().size();
    list(model.lastId() + ids >= Limits.LARGEST_NUMBER, Kind.FULL, null, "ids");
  }

  private List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    transaction
        .updates()
        .forEach(each -> parts.add(new Part(each.task(), Kind.MISSING_UPDATE, "to update")));
    transaction
        .renewals()
        .forEach(each -> parts.add(new Part(each.task(), Kind.MISSING_UPDATE, "to renew")));
    transaction
        .takings()
        .forEach(each -> parts.add(new Part(each.task(), Kind.MISSING_UPDATE, "to take")));
    transaction
        .deletes()
        .forEach(each -> parts.add(new Part(each, Kind.MISSING_DELETE, "to delete")));
    transaction
        .depends()
        .forEach(each -> parts.add(new Part(each, Kind.MISSING_DEPEND, "to depend on")));
    return parts;
  }

  /** How many parts it has. */
  private long count() {
    return parts().size()
        + (long) transaction.adds().size()
        + transaction.puts().size()
        + transaction.documentDeletes().size()
        + transaction.documentDepends().size();
  }

  /** Whether it is refused for its total size, before its parts are checked. */
  boolean isTooLarge() {
    long bytes = 0;
    for (Transaction.Add add : transaction.adds()) {
      Task.Lane lane = add.lane();
      bytes += add.group().length() + add.data().size() + (lane == null ? 0 : lane.key().length());
    }
    for (Transaction.Update update : transaction.updates()) {
      bytes += update.data() == null ? 0 : update.data().size();
    }
    for (Transaction.Put put : transaction.puts()) {
      bytes += put.key().key().length() + put.body().size();
    }
    return count() > limits.operations() || bytes > limits.transactionBytes();
  }

  private void everyNameIsText() {
    Set<String> locals = new TreeSet<>();
    int place = 0;
    for (Transaction.Add add : transaction.adds()) {
      name(add.group(), limits.nameBytes(), null, "group " + place);
      lane(add.lane(), place);
      localName(locals, add.localName(), null, "of add " + place++);
    }
    place = 0;
    for (Transaction.Taking taking : transaction.takings()) {
      TaskRef task = named(taking.task());
      localName(locals, taking.localName(), task, task != null ? "" : "of taking " + place);
      place++;
    }
    place = 0;
    for (Transaction.Put put : transaction.puts()) {
      key(put.key(), "of put " + place);
      malformed(!isReadable(put), put.key(), "limits of put " + place++);
    }
    place = 0;
    for (DocumentVersion delete : transaction.documentDeletes()) {
      key(delete.key(), "of delete " + place++);
    }
    place = 0;
    for (DocumentVersion depend : transaction.documentDepends()) {
      key(depend.key(), "of depend " + place++);
    }
  }

  /** Whether a document of limits has their form. */
  private static boolean isReadable(Transaction.Put put) {
    try {
      return !Throttling.isSetBy(put.key()) || Throttling.read(put.key(), put.body()) != null;
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  /** The reference, or null if it names no task: such a part is identified by its place alone. */
  private static @Nullable TaskRef named(TaskRef ref) {
    return ref.namesTask() ? ref : null;
  }

  private void lane(Task.@Nullable Lane lane, int place) {
    if (lane != null) {
      if (!lane.key().isEmpty()) {
        name(lane.key(), limits.nameBytes(), null, "key " + place);
      }
      malformed(lane.priority() < 0 || lane.priority() > 9, null, "priority " + place);
    }
  }

  private void localName(
      Set<String> before, @Nullable String name, @Nullable TaskRef task, String where) {
    if (name != null) {
      name(name, limits.nameBytes(), task, "local name " + where);
      malformed(!before.add(name), task, "local name twice " + name + where);
    }
  }

  private void key(DocumentKey key, String where) {
    name(key.collection(), limits.nameBytes(), key, "collection " + where);
    name(key.key(), limits.nameBytes(), key, "key " + where);
  }

  private void name(String name, int maxBytes, @Nullable Object about, String where) {
    boolean text = StandardCharsets.UTF_8.newEncoder().canEncode(name);
    malformed(name.isEmpty(), about, where + " empty");
    malformed(!text, about, where + " is no text");
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    tooLarge(text && bytes > maxBytes, about, where + " has " + bytes + " bytes");
  }

  private void everyTimeIsInRange() {
    int place = 0;
    for (Transaction.Add add : transaction.adds()) {
      malformed(!inRange(0, number(add.when())), null, "time of add " + place++);
    }
    place = 0;
    for (Transaction.Update update : transaction.updates()) {
      time(0, number(update.when()), update.task(), "time of update", place++);
    }
    place = 0;
    for (Transaction.Renewal renewal : transaction.renewals()) {
      time(1, renewal.leaseMillis(), renewal.task(), "lease of renewal", place++);
    }
    place = 0;
    for (Transaction.Taking taking : transaction.takings()) {
      time(0, taking.leaseMillis(), taking.task(), "lease of taking", place++);
    }
  }

  /** Two wrong leases of the same length and bounds for one task are one cause. */
  private void time(long least, long millis, TaskRef ref, String what, int place) {
    TaskRef task = named(ref);
    String where = task == null ? what + place : what.startsWith("time") ? "time" : "from " + least;
    malformed(!inRange(least, millis), task, where + " " + millis);
  }

  private static long number(When when) {
    return switch (when) {
      case When.Now() -> 0;
      case When.At(long epochMillis) -> epochMillis;
      case When.After(long millis) -> millis;
    };
  }

  private void everyTaskIsThere(List<Part> parts) {
    int place = 0;
    for (Part part : parts) {
      malformed(!part.task.namesTask(), null, "reference " + place++);
      boolean missing = part.task.namesTask() && find(part.task) == null;
      list(missing, part.missing, part.task, part.purpose);
    }
  }

  /** A missing task is identified by the reference to it. */
  private void nothingIsChangedTwice(List<Part> parts) {
    Set<Long> changed = new TreeSet<>();
    for (Part part : parts) {
      if (part.task.namesTask() && part.missing != Kind.MISSING_DEPEND) {
        Task task = find(part.task);
        long name = part.task.id() != 0 ? part.task.id() : -part.task.origin();
        malformed(!changed.add(task == null ? name : task.id()), part.task, "twice");
      }
    }
    Set<DocumentKey> keys = new TreeSet<>();
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      malformed(!keys.add(put.key()), put.key(), "twice " + place++);
    }
    for (DocumentVersion delete : transaction.documentDeletes()) {
      malformed(!keys.add(delete.key()), delete.key(), "twice " + place++);
    }
  }

  private void everyTaskMayBeChanged(List<Part> parts) {
    for (Part part : parts) {
      boolean anothers = find(part.task) != null && mine(part.task) == null;
      boolean change = part.missing != Kind.MISSING_DEPEND;
      list(anothers && change, Kind.OWNED_BY_ANOTHER, part.task, "");
    }
    for (Transaction.Renewal renewal : transaction.renewals()) {
      Task task = mine(renewal.task());
      boolean ended = task != null && !mayRenew(renewal, task);
      list(ended, Kind.LEASE_ENDED, renewal.task(), "");
    }
    StartRules starts = new StartRules(model, now);
    for (Transaction.Taking taking : transaction.takings()) {
      Task task = mine(taking.task());
      list(task != null && !isWaiting(task), Kind.NOT_WAITING, taking.task(), "");
      if (task != null && isWaiting(task)) {
        boolean mayStart =
            starts.room(task.group()) > 0 && starts.room(task.group(), task.key()) > 0;
        list(!mayStart, Kind.LIMIT_REACHED, taking.task(), "");
        if (mayStart) {
          starts.take(task);
        }
      }
    }
  }

  private void everyVersionIsTheExpected() {
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      if (put.expectedVersion() != DocumentVersion.ANY) {
        version(put.key(), put.expectedVersion(), "put " + place);
      }
      place++;
    }
    for (DocumentVersion delete : transaction.documentDeletes()) {
      if (delete.version() == DocumentVersion.ABSENT) {
        malformed(true, delete.key(), "absent cannot be deleted " + place);
      } else {
        version(delete.key(), delete.version(), "delete " + place);
      }
      place++;
    }
    for (DocumentVersion depend : transaction.documentDepends()) {
      version(depend.key(), depend.version(), "depend " + place++);
    }
  }

  private void version(DocumentKey key, long expected, String where) {
    boolean negative = expected < DocumentVersion.ANY;
    malformed(negative, key, "negative version " + where);
    list(!negative && !isThere(key, expected), Kind.VERSION_CONFLICT, key, expected);
  }

  private void everyReferenceIsKnown() {
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      String where = "unknown name in put " + place++ + " ";
      new NewDocument(put, names)
          .references()
          .forEach(name -> malformed(!names.containsKey(name), put.key(), where + name));
    }
  }

  private void everyDataIsSmallEnough() {
    int place = 0;
    for (Transaction.Add add : transaction.adds()) {
      tooLarge(add.data().size() > limits.dataBytes(), null, "data of add " + place++);
    }
    place = 0;
    for (Transaction.Update update : transaction.updates()) {
      TaskRef task = named(update.task());
      int bytes = update.data() == null ? 0 : update.data().size();
      String where = "data of " + bytes + (task != null ? "" : " of update " + place);
      tooLarge(bytes > limits.dataBytes(), task, where);
      place++;
    }
    place = 0;
    for (Transaction.Put put : transaction.puts()) {
      Bytes body = new NewDocument(put, names).body(index -> model.lastId() + 1 + index);
      tooLarge(body.size() > limits.dataBytes(), put.key(), "body of put " + place++);
    }
  }

  private void malformed(boolean fault, @Nullable Object about, Object what) {
    list(fault, Kind.MALFORMED, about, what);
  }

  private void tooLarge(boolean fault, @Nullable Object about, Object what) {
    list(fault, Kind.TOO_LARGE, about, what);
  }

  /**
   * Adds a cause, unless it is listed already.
   *
   * @param about the task or document concerned; null for none
   * @param what distinguishes it from others of this kind
   */
  private void list(boolean fault, Kind kind, @Nullable Object about, Object what) {
    if (fault && listed.add(Arrays.asList(kind, about, what))) {
      causes.add(
          new Cause(
              kind,
              about instanceof TaskRef task ? task : null,
              about instanceof DocumentKey document ? document : null));
    }
  }
}
