package io.millrace.store.kernel;

import io.millrace.store.DocumentKey;
import io.millrace.store.Limits;
import io.millrace.store.Reason;
import io.millrace.store.Reason.Kind;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.When;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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
    malformed(client < 0 || client > Limits.LARGEST_NUMBER);
    String requestId = transaction.requestId();
    if (requestId != null) {
      name(requestId, limits.requestIdBytes());
    }
    if (isTooLarge()) {
      return;
    }
    everyNameIsText();
    everyTimeIsInRange();
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
    malformed(parts == 0);
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
    tooLarge(tooLarge);
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
    for (Transaction.Add add : transaction.adds()) {
      name(add.group(), limits.nameBytes());
      localName(add.localName());
    }
    transaction.takings().forEach(taking -> localName(taking.localName()));
    transaction.puts().forEach(put -> key(put.key()));
    transaction.documentDeletes().forEach(each -> key(each.key()));
    transaction.documentDepends().forEach(each -> key(each.key()));
  }

  private void localName(@Nullable String name) {
    if (name != null) {
      name(name, limits.nameBytes());
    }
  }

  private void key(DocumentKey key) {
    name(key.collection(), limits.nameBytes());
    name(key.key(), limits.nameBytes());
  }

  private void name(String name, int maxBytes) {
    boolean text = StandardCharsets.UTF_8.newEncoder().canEncode(name);
    malformed(name.isEmpty() || !text);
    tooLarge(text && name.getBytes(StandardCharsets.UTF_8).length > maxBytes);
  }

  private void everyTimeIsInRange() {
    transaction.adds().forEach(add -> malformed(!PlainLook.inRange(0, number(add.when()))));
    transaction
        .updates()
        .forEach(update -> malformed(!PlainLook.inRange(0, number(update.when()))));
    transaction.renewals().forEach(each -> malformed(!PlainLook.inRange(1, each.leaseMillis())));
    transaction.takings().forEach(each -> malformed(!PlainLook.inRange(0, each.leaseMillis())));
  }

  private static long number(When when) {
    return switch (when) {
      case When.Now() -> 0;
      case When.At(long epochMillis) -> epochMillis;
      case When.After(long millis) -> millis;
    };
  }

  private void everyTaskIsThere() {
    for (Part part : parts()) {
      if (store.find(part.task) == null) {
        faults.add(new Fault(part.missing, part.task, null));
      }
    }
    for (TaskRef depend : transaction.depends()) {
      if (store.find(depend) == null) {
        faults.add(new Fault(Kind.MISSING_DEPEND, depend, null));
      }
    }
  }

  /** A task that is not there is known by the name that it was called. */
  private void nothingIsChangedTwice() {
    Set<String> changed = new TreeSet<>();
    for (Part part : parts()) {
      Task task = store.find(part.task);
      long id = task == null ? part.task.id() : task.id();
      malformed(!changed.add(id == 0 ? "origin " + part.task.origin() : "id " + id));
    }
    Set<DocumentKey> keys = new TreeSet<>();
    transaction.puts().forEach(put -> malformed(!keys.add(put.key())));
    transaction.documentDeletes().forEach(each -> malformed(!keys.add(each.key())));
    Set<String> locals = new TreeSet<>();
    transaction.adds().forEach(add -> twice(locals, add.localName()));
    transaction.takings().forEach(taking -> twice(locals, taking.localName()));
  }

  private void twice(Set<String> names, @Nullable String name) {
    malformed(name != null && !names.add(name));
  }

  private void nothingIsOwnedByAnother() {
    for (Part part : parts()) {
      if (store.find(part.task) != null && look.mine(part.task) == null) {
        faults.add(new Fault(Kind.OWNED_BY_ANOTHER, part.task, null));
      }
    }
  }

  private void everyRenewedClaimIsAlive() {
    for (Transaction.Renewal renewal : transaction.renewals()) {
      Task task = look.mine(renewal.task());
      if (task != null && !look.mayRenew(renewal, task)) {
        faults.add(new Fault(Kind.LEASE_ENDED, renewal.task(), null));
      }
    }
  }

  private void everyTakenTaskWaits() {
    for (Transaction.Taking taking : transaction.takings()) {
      Task task = look.mine(taking.task());
      if (task != null && !look.isWaiting(task)) {
        faults.add(new Fault(Kind.NOT_WAITING, taking.task(), null));
      }
    }
  }

  private void everyVersionIsTheExpected() {
    for (Transaction.Put put : transaction.puts()) {
      if (put.expectedVersion() != DocumentVersion.ANY) {
        version(put.key(), put.expectedVersion());
      }
    }
    for (DocumentVersion delete : transaction.documentDeletes()) {
      if (delete.version() == DocumentVersion.ABSENT) {
        malformed(true);
      } else {
        version(delete.key(), delete.version());
      }
    }
    transaction.documentDepends().forEach(each -> version(each.key(), each.version()));
  }

  private void version(DocumentKey key, long expected) {
    malformed(expected < DocumentVersion.ANY);
    if (expected >= DocumentVersion.ANY && !look.isThere(key, expected)) {
      faults.add(new Fault(Kind.VERSION_CONFLICT, null, key));
    }
  }

  private void everyReferenceIsKnown(PlainResults results) {
    for (Transaction.Put put : transaction.puts()) {
      if (put.template()) {
        PlainResults.REFERENCE
            .matcher(put.body().utf8())
            .results()
            .forEach(match -> malformed(!results.knows(match.group(1))));
      }
    }
  }

  private void everyDataIsSmallEnough(PlainResults results) {
    transaction.adds().forEach(add -> tooLarge(add.data().size() > limits.dataBytes()));
    for (Transaction.Update update : transaction.updates()) {
      tooLarge(update.data() != null && update.data().size() > limits.dataBytes());
    }
    transaction.puts().forEach(put -> tooLarge(results.body(put).size() > limits.dataBytes()));
  }

  private void thereIsRoom(PlainResults results) {
    if (results.next() > Limits.LARGEST_NUMBER) {
      faults.add(new Fault(Kind.FULL, null, null));
    }
    long growth = results.growthBytes();
    if (growth > 0 && store.memoryBytes() + growth > limits.memoryBytes()) {
      faults.add(new Fault(Kind.FULL, null, null));
    }
  }

  private void malformed(boolean fault) {
    if (fault) {
      faults.add(new Fault(Kind.MALFORMED, null, null));
    }
  }

  private void tooLarge(boolean fault) {
    if (fault) {
      faults.add(new Fault(Kind.TOO_LARGE, null, null));
    }
  }
}
