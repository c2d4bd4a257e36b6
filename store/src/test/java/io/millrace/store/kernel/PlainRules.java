package io.millrace.store.kernel;

import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the documentation says of a transaction, rule by rule: each rule walks over all that it
 * concerns and knows nothing of the others.
 */
final class PlainRules {
  /** A reason without its words. */
  record Fault(Kind kind, @Nullable TaskRef task, @Nullable DocumentKey document) {
    static Fault of(Reason reason) {
      return new Fault(reason.kind(), reason.task(), reason.document());
    }
  }

  /** A task that the transaction is to change or delete. */
  private record Part(TaskRef task, Kind missing) {}

  private final PlainLook look;
  private final PlainStore store;
  private final Transaction transaction;
  private final Limits limits;
  private final List<Fault> faults = new ArrayList<>();

  /** The faults with what sets apart those of one kind: each is listed once. */
  private final Set<List<Object>> found = new HashSet<>();

  private PlainRules(PlainLook look, Limits limits) {
    this.look = look;
    this.store = look.store();
    this.transaction = look.transaction();
    this.limits = limits;
  }

  /** Every reason against the transaction; in no order, none where it is to be done. */
  static List<Fault> faults(PlainLook look, PlainResults results, Limits limits) {
    PlainRules rules = new PlainRules(look, limits);
    rules.judge(results);
    return rules.faults;
  }

  private void judge(PlainResults results) {
    long client = transaction.client().client();
    malformed(client < 0 || client > Limits.LARGEST_NUMBER, "client");
    String requestId = transaction.requestId();
    if (requestId != null) {
      name(requestId, limits.requestIdBytes(), null, "request id");
    }
    if (isTooLarge()) {
      return;
    }
    everyNameIsText();
    everyTimeIsInRange();
    everyReferenceNamesATask();
    everyTaskIsThere();
    nothingIsChangedTwice();
    nothingIsOwnedByAnother();
    everyRenewedClaimIsAlive();
    everyTakenTaskWaits();
    everyVersionIsTheExpected();
    everyReferenceIsKnown(results);
    everyDataIsSmallEnough(results);
    thereIsRoom(results);
  }

  private boolean isTooLarge() {
    long parts =
        parts().size()
            + (long) transaction.adds().size()
            + transaction.depends().size()
            + transaction.puts().size()
            + transaction.documentDeletes().size()
            + transaction.documentDepends().size();
    malformed(parts == 0, "asks for nothing");
    long bytes = 0;
    for (Transaction.Add add : transaction.adds()) {
      bytes += add.group().length() + add.data().size();
    }
    for (Transaction.Update update : transaction.updates()) {
      bytes += update.data() == null ? 0 : update.data().size();
    }
    for (Transaction.Put put : transaction.puts()) {
      bytes += put.key().key().length() + put.body().size();
    }
    boolean tooLarge = parts > limits.operations() || bytes > limits.transactionBytes();
    tooLarge(tooLarge, null, "the transaction");
    return tooLarge;
  }

  private List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    transaction.updates().forEach(each -> parts.add(new Part(each.task(), Kind.MISSING_UPDATE)));
    transaction.renewals().forEach(each -> parts.add(new Part(each.task(), Kind.MISSING_UPDATE)));
    transaction.takings().forEach(each -> parts.add(new Part(each.task(), Kind.MISSING_UPDATE)));
    transaction.deletes().forEach(each -> parts.add(new Part(each, Kind.MISSING_DELETE)));
    return parts;
  }

  private void everyNameIsText() {
    int place = 0;
    for (Transaction.Add add : transaction.adds()) {
      name(add.group(), limits.nameBytes(), null, "group " + place);
      localName(add.localName(), null, "local name " + place);
      place++;
    }
    place = 0;
    for (Transaction.Taking taking : transaction.takings()) {
      TaskRef task = taking.task();
      localName(taking.localName(), task, task.namesTask() ? "" : "taking " + place);
      place++;
    }
    place = 0;
    for (Transaction.Put put : transaction.puts()) {
      key(put.key(), "put " + place++);
    }
    place = 0;
    for (DocumentVersion delete : transaction.documentDeletes()) {
      key(delete.key(), "delete " + place++);
    }
    place = 0;
    for (DocumentVersion depend : transaction.documentDepends()) {
      key(depend.key(), "depend " + place++);
    }
  }

  private void localName(@Nullable String name, @Nullable TaskRef task, String where) {
    if (name != null) {
      Object about = task != null && task.namesTask() ? task : null;
      name(name, limits.nameBytes(), about, where);
    }
  }

  private void key(DocumentKey key, String where) {
    name(key.collection(), limits.nameBytes(), key, "collection of " + where);
    name(key.key(), limits.nameBytes(), key, "key of " + where);
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
      malformed(!PlainLook.inRange(0, number(add.when())), "time of add " + place++);
    }
    place = 0;
    for (Transaction.Update update : transaction.updates()) {
      time(0, number(update.when()), update.task(), "update", place++);
    }
    place = 0;
    for (Transaction.Renewal renewal : transaction.renewals()) {
      time(1, renewal.leaseMillis(), renewal.task(), "renewal", place++);
    }
    place = 0;
    for (Transaction.Taking taking : transaction.takings()) {
      time(0, taking.leaseMillis(), taking.task(), "taking", place++);
    }
  }

  /** A time that is asked for twice with the same fault is one fault. */
  private void time(long least, long millis, TaskRef task, String what, int place) {
    boolean update = what.equals("update");
    String where = (update ? "time " : "lease from " + least + " ") + millis;
    boolean fault = !PlainLook.inRange(least, millis);
    if (task.namesTask()) {
      malformed(fault, task, where);
    } else {
      malformed(fault, what + place + where);
    }
  }

  private static long number(When when) {
    return switch (when) {
      case When.Now() -> 0;
      case When.At(long epochMillis) -> epochMillis;
      case When.After(long millis) -> millis;
    };
  }

  /** A part that names no task has no name but its place. */
  private void everyReferenceNamesATask() {
    List<TaskRef> refs = new ArrayList<>();
    parts().forEach(part -> refs.add(part.task));
    refs.addAll(transaction.depends());
    int place = 0;
    for (TaskRef ref : refs) {
      boolean named = ref.id() >= 0 && ref.origin() >= 0 && !(ref.id() == 0 && ref.origin() == 0);
      malformed(!named, "reference " + place++);
    }
  }

  private void everyTaskIsThere() {
    parts(transaction.updates(), Transaction.Update::task, Kind.MISSING_UPDATE, "to update");
    parts(transaction.renewals(), Transaction.Renewal::task, Kind.MISSING_UPDATE, "to renew");
    parts(transaction.takings(), Transaction.Taking::task, Kind.MISSING_UPDATE, "to take");
    parts(transaction.deletes(), ref -> ref, Kind.MISSING_DELETE, "to delete");
    parts(transaction.depends(), ref -> ref, Kind.MISSING_DEPEND, "to depend on");
  }

  private <T> void parts(List<T> list, Function<T, TaskRef> task, Kind missing, String purpose) {
    for (T part : list) {
      TaskRef ref = task.apply(part);
      if (ref.namesTask() && store.find(ref) == null) {
        fault(missing, ref, purpose);
      }
    }
  }

  /** A task that is not there is known by the name that it was called. */
  private void nothingIsChangedTwice() {
    Set<String> changed = new TreeSet<>();
    for (Part part : parts()) {
      if (part.task.namesTask()) {
        Task task = store.find(part.task);
        long id = task == null ? part.task.id() : task.id();
        boolean first = changed.add(id == 0 ? "origin " + part.task.origin() : "id " + id);
        malformed(!first, part.task, "twice");
      }
    }
    Set<DocumentKey> keys = new TreeSet<>();
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      malformed(!keys.add(put.key()), put.key(), "put twice " + place++);
    }
    place = 0;
    for (DocumentVersion delete : transaction.documentDeletes()) {
      malformed(!keys.add(delete.key()), delete.key(), "deleted twice " + place++);
    }
    Set<String> locals = new TreeSet<>();
    place = 0;
    for (Transaction.Add add : transaction.adds()) {
      twice(locals, add.localName(), null, "add " + place++);
    }
    place = 0;
    for (Transaction.Taking taking : transaction.takings()) {
      TaskRef task = taking.task();
      boolean named = task.namesTask();
      twice(locals, taking.localName(), named ? task : null, named ? "" : "taking " + place);
      place++;
    }
  }

  private void twice(
      Set<String> names, @Nullable String name, @Nullable Object about, String where) {
    malformed(name != null && !names.add(name), about, "local name twice " + name + where);
  }

  private void nothingIsOwnedByAnother() {
    for (Part part : parts()) {
      if (store.find(part.task) != null && look.mine(part.task) == null) {
        fault(Kind.OWNED_BY_ANOTHER, part.task, "");
      }
    }
  }

  private void everyRenewedClaimIsAlive() {
    for (Transaction.Renewal renewal : transaction.renewals()) {
      Task task = look.mine(renewal.task());
      if (task != null && !look.mayRenew(renewal, task)) {
        fault(Kind.LEASE_ENDED, renewal.task(), "");
      }
    }
  }

  private void everyTakenTaskWaits() {
    for (Transaction.Taking taking : transaction.takings()) {
      Task task = look.mine(taking.task());
      if (task != null && !look.isWaiting(task)) {
        fault(Kind.NOT_WAITING, taking.task(), "");
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
    place = 0;
    for (DocumentVersion delete : transaction.documentDeletes()) {
      if (delete.version() == DocumentVersion.ABSENT) {
        malformed(true, delete.key(), "absent cannot be deleted " + place);
      } else {
        version(delete.key(), delete.version(), "delete " + place);
      }
      place++;
    }
    place = 0;
    for (DocumentVersion depend : transaction.documentDepends()) {
      version(depend.key(), depend.version(), "depend " + place++);
    }
  }

  private void version(DocumentKey key, long expected, String where) {
    malformed(expected < DocumentVersion.ANY, key, "negative version " + where);
    if (expected >= DocumentVersion.ANY && !look.isThere(key, expected)) {
      fault(Kind.VERSION_CONFLICT, key, expected);
    }
  }

  private void everyReferenceIsKnown(PlainResults results) {
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      String where = "unknown name in put " + place++ + " ";
      if (put.template()) {
        PlainResults.REFERENCE
            .matcher(put.body().utf8())
            .results()
            .map(match -> match.group(1))
            .forEach(name -> malformed(!results.knows(name), put.key(), where + name));
      }
    }
  }

  private void everyDataIsSmallEnough(PlainResults results) {
    int place = 0;
    for (Transaction.Add add : transaction.adds()) {
      tooLarge(add.data().size() > limits.dataBytes(), null, "data of add " + place++);
    }
    place = 0;
    for (Transaction.Update update : transaction.updates()) {
      TaskRef task = update.task();
      int bytes = update.data() == null ? 0 : update.data().size();
      String where = "data of " + bytes + (task.namesTask() ? "" : " of update " + place);
      tooLarge(bytes > limits.dataBytes(), task.namesTask() ? task : null, where);
      place++;
    }
    place = 0;
    for (Transaction.Put put : transaction.puts()) {
      boolean large = results.body(put).size() > limits.dataBytes();
      tooLarge(large, put.key(), "body of put " + place++);
    }
  }

  private void thereIsRoom(PlainResults results) {
    if (results.next() > Limits.LARGEST_NUMBER) {
      fault(Kind.FULL, null, "ids");
    }
    long growth = results.growthBytes();
    if (growth > 0 && store.memoryBytes() + growth > limits.memoryBytes()) {
      fault(Kind.FULL, null, "memory");
    }
  }

  private void malformed(boolean fault, Object what) {
    malformed(fault, null, what);
  }

  private void malformed(boolean fault, @Nullable Object about, Object what) {
    if (fault) {
      fault(Kind.MALFORMED, about, what);
    }
  }

  private void tooLarge(boolean fault, @Nullable Object about, Object what) {
    if (fault) {
      fault(Kind.TOO_LARGE, about, what);
    }
  }

  /**
   * Lists a fault, once.
   *
   * @param about the task or document at fault; null for none
   * @param what sets it apart from others of this kind
   */
  private void fault(Kind kind, @Nullable Object about, Object what) {
    if (found.add(Arrays.asList(kind, about, what))) {
      faults.add(
          new Fault(
              kind,
              about instanceof TaskRef task ? task : null,
              about instanceof DocumentKey document ? document : null));
    }
  }
}
