package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.testkit.simulation.Verdict.Cause;
import io.millrace.store.testkit.simulation.Verdict.NewDocument;
import io.millrace.store.testkit.simulation.Verdict.NewTask;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the documentation says of a transaction, against a model at a time. */
final class TransactionRules {
  private final Model model;
  private final Transaction transaction;
  private final long now;
  private final List<Cause> causes = new ArrayList<>();

  /** The causes with what sets apart those of one kind: each is listed once. */
  private final Set<List<Object>> listed = new HashSet<>();

  private final List<NewTask> tasks = new ArrayList<>();
  private final List<Task> deletes = new ArrayList<>();
  private final List<NewDocument> documents = new ArrayList<>();
  private final List<Document> documentDeletes = new ArrayList<>();
  private final Set<Long> changed = new HashSet<>();

  private TransactionRules(Model model, Transaction transaction, long nowMillis) {
    this.model = model;
    this.transaction = transaction;
    this.now = nowMillis;
  }

  static Verdict verdict(Model model, Transaction transaction, long nowMillis) {
    return new TransactionRules(model, transaction, nowMillis).verdict();
  }

  private Verdict verdict() {
    for (Transaction.Add add : transaction.adds()) {
      long time = add.when().resolve(now);
      @Nullable Owner owner = add.owned() && time > now ? transaction.client() : null;
      tasks.add(new NewTask(null, add.group(), time, owner, 0, add.data()));
    }
    everyReferenceNamesATask();
    transaction.updates().forEach(this::update);
    transaction.renewals().forEach(this::renew);
    transaction.takings().forEach(this::take);
    for (TaskRef ref : transaction.deletes()) {
      @Nullable Task task = mine(ref, Kind.MISSING_DELETE, "to delete");
      if (task != null) {
        deletes.add(task);
      }
    }
    for (TaskRef ref : transaction.depends()) {
      require(ref, Kind.MISSING_DEPEND, "to depend on");
    }
    judgeDocuments();
    if (!causes.isEmpty()) {
      return new Verdict.Refused(causes);
    }
    boolean changes =
        !(tasks.isEmpty() && deletes.isEmpty() && documents.isEmpty() && documentDeletes.isEmpty());
    return changes
        ? new Verdict.Done(tasks, deletes, documents, documentDeletes)
        : new Verdict.Nothing();
  }

  private void update(Transaction.Update update) {
    @Nullable Task old = mine(update.task(), Kind.MISSING_UPDATE, "to update");
    if (old == null) {
      return;
    }
    long time = update.when().resolve(now);
    boolean future = time > now;
    Bytes data = update.data() == null ? old.data() : update.data();
    long token = future && Model.liveClaim(old, now) ? old.token() : 0;
    tasks.add(new NewTask(old, old.group(), time, future ? owner(old) : null, token, data));
  }

  private void renew(Transaction.Renewal renewal) {
    @Nullable Task old = mine(renewal.task(), Kind.MISSING_UPDATE, "to renew");
    if (old == null) {
      return;
    }
    boolean revived =
        renewal.revive() && old.token() != 0 && transaction.client().equals(old.owner());
    if (!Model.liveClaim(old, now) && !revived) {
      list(new Cause(Kind.LEASE_ENDED, renewal.task(), null), "");
      return;
    }
    long end = now + renewal.leaseMillis();
    tasks.add(new NewTask(old, old.group(), end, owner(old), old.token(), old.data()));
  }

  private void take(Transaction.Taking taking) {
    @Nullable Task old = mine(taking.task(), Kind.MISSING_UPDATE, "to take");
    if (old == null) {
      return;
    }
    if (old.stateAt(now) != Task.State.WAITING) {
      list(new Cause(Kind.NOT_WAITING, taking.task(), null), "");
      return;
    }
    long end = now + taking.leaseMillis();
    tasks.add(new NewTask(old, old.group(), end, transaction.client(), NewTask.OWN_ID, old.data()));
  }

  /** The client; but an operator who prolongs another's claim leaves it to that one. */
  private @Nullable Owner owner(Task old) {
    return transaction.override() && Model.liveClaim(old, now) ? old.owner() : transaction.client();
  }

  /** Lists a cause, once; {@code what} sets it apart from others of its kind. */
  private void list(Cause cause, Object what) {
    if (listed.add(List.of(cause, what))) {
      causes.add(cause);
    }
  }

  /** A part that names no task has no name but its place. */
  private void everyReferenceNamesATask() {
    List<TaskRef> refs = new ArrayList<>();
    transaction.updates().forEach(update -> refs.add(update.task()));
    transaction.renewals().forEach(renewal -> refs.add(renewal.task()));
    transaction.takings().forEach(taking -> refs.add(taking.task()));
    refs.addAll(transaction.deletes());
    refs.addAll(transaction.depends());
    for (int i = 0; i < refs.size(); i++) {
      if (!refs.get(i).namesTask()) {
        list(Cause.of(Kind.MALFORMED), i);
      }
    }
  }

  private @Nullable Task require(TaskRef ref, Kind missing, String purpose) {
    @Nullable Task task = ref.namesTask() ? model.find(ref) : null;
    if (task == null && ref.namesTask()) {
      list(new Cause(missing, ref, null), purpose);
    }
    return task;
  }

  /** The task if it is there, named once, and not owned by somebody else. */
  private @Nullable Task mine(TaskRef ref, Kind missing, String purpose) {
    @Nullable Task task = require(ref, missing, purpose);
    long name = ref.id() != 0 ? ref.id() : -ref.origin();
    if (ref.namesTask() && !changed.add(task == null ? name : task.id())) {
      list(new Cause(Kind.MALFORMED, ref, null), "twice");
    }
    if (task == null) {
      return null;
    }
    if (task.stateAt(now) == Task.State.CLAIMED
        && !transaction.client().equals(task.owner())
        && !transaction.override()) {
      list(new Cause(Kind.OWNED_BY_ANOTHER, ref, null), "");
      return null;
    }
    return task;
  }

  private void judgeDocuments() {
    Set<DocumentKey> touched = new HashSet<>();
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      if (!touched.add(put.key())) {
        list(new Cause(Kind.MALFORMED, null, put.key()), "put " + place);
      }
      place++;
      @Nullable Document old = model.document(put.key());
      if (put.expectedVersion() != DocumentVersion.ANY) {
        expect(put.key(), put.expectedVersion(), old);
      }
      @Nullable Bytes body = put.template() ? null : put.body();
      @Nullable String template = put.template() ? put.body().utf8() : null;
      documents.add(new NewDocument(put.key(), old, body, template));
    }
    for (DocumentVersion delete : transaction.documentDeletes()) {
      if (!touched.add(delete.key())) {
        list(new Cause(Kind.MALFORMED, null, delete.key()), "delete " + place);
      }
      place++;
      @Nullable Document old = model.document(delete.key());
      if (expect(delete.key(), delete.version(), old) && old != null) {
        documentDeletes.add(old);
      }
    }
    for (DocumentVersion depend : transaction.documentDepends()) {
      expect(depend.key(), depend.version(), model.document(depend.key()));
    }
  }

  private boolean expect(DocumentKey key, long version, @Nullable Document found) {
    boolean asExpected =
        version == DocumentVersion.ANY
            ? found != null
            : version == (found == null ? DocumentVersion.ABSENT : found.version());
    if (!asExpected) {
      list(new Cause(Kind.VERSION_CONFLICT, null, key), version);
    }
    return asExpected;
  }
}
