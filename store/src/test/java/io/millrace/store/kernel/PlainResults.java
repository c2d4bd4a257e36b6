package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.kernel.state.Sizes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What comes of all parts of a transaction of which each by itself could be done. */
final class PlainResults {
  /** A reference to a local name in a template. */
  static final Pattern REFERENCE = Pattern.compile("\\{\\{(.*?)}}", Pattern.DOTALL);

  private final PlainLook look;
  private final List<Task> tasks = new ArrayList<>();
  private final List<Task> deleted = new ArrayList<>();
  private final List<Document> documents = new ArrayList<>();
  private final List<Document> documentsDeleted = new ArrayList<>();
  private final Map<String, Long> names = new HashMap<>();
  private long next;
  private long growthBytes;

  PlainResults(PlainLook look) {
    this.look = look;
    next = look.store().lastId() + 1;
    Transaction transaction = look.transaction();
    transaction.adds().forEach(this::add);
    transaction.updates().forEach(this::update);
    transaction.renewals().forEach(this::renew);
    transaction.takings().forEach(this::take);
    transaction.deletes().forEach(this::delete);
    transaction.puts().forEach(this::put);
    transaction.documentDeletes().forEach(this::delete);
  }

  /** The new tasks, in order. */
  List<Task> tasks() {
    return tasks;
  }

  /** The tasks deleted, in order. */
  List<Task> deleted() {
    return deleted;
  }

  /** The documents written, in order. */
  List<Document> documents() {
    return documents;
  }

  /** The documents deleted, in order. */
  List<Document> documentsDeleted() {
    return documentsDeleted;
  }

  /** Whether there are none. */
  boolean areNone() {
    return tasks.isEmpty()
        && deleted.isEmpty()
        && documents.isEmpty()
        && documentsDeleted.isEmpty();
  }

  /** The first number that is not given. */
  long next() {
    return next;
  }

  /** How many bytes of memory more are needed. */
  long growthBytes() {
    return growthBytes;
  }

  /** Whether a template may refer to this name. */
  boolean knows(String localName) {
    return names.containsKey(localName);
  }

  /** What a claim makes of a task. */
  static Task taken(Task old, long id, Owner client, long endMillis) {
    int claims = old.claims() + 1;
    return new Task(id, old.origin(), old.group(), endMillis, client, id, claims, old.data());
  }

  private void add(Transaction.Add add) {
    call(add.localName());
    long time = look.time(add.when());
    Owner owner = add.owned() && time > look.nowMillis() ? look.transaction().client() : null;
    Task task = new Task(next, next, add.group(), time, owner, 0, 0, add.data());
    growthBytes += Sizes.of(task);
    make(task);
  }

  private void update(Transaction.Update update) {
    Task old = look.mine(update.task());
    if (old != null) {
      long time = look.time(update.when());
      boolean held = time > look.nowMillis();
      long token = held && look.isAlive(old) ? old.token() : 0;
      Bytes data = update.data() == null ? old.data() : update.data();
      growthBytes += data.size() - old.data().size();
      make(changed(old, time, held ? look.heir(old) : null, token, data));
    }
  }

  private void renew(Transaction.Renewal renewal) {
    Task old = look.mine(renewal.task());
    if (old != null && look.mayRenew(renewal, old)) {
      long end = look.after(renewal.leaseMillis());
      make(changed(old, end, look.heir(old), old.token(), old.data()));
    }
  }

  private void take(Transaction.Taking taking) {
    call(taking.localName());
    Task old = look.mine(taking.task());
    if (old != null && look.isWaiting(old)) {
      make(taken(old, next, look.transaction().client(), look.after(taking.leaseMillis())));
    }
  }

  private Task changed(Task old, long time, @Nullable Owner owner, long token, Bytes data) {
    return new Task(next, old.origin(), old.group(), time, owner, token, old.claims(), data);
  }

  private void make(Task task) {
    tasks.add(task);
    next++;
  }

  private void call(@Nullable String localName) {
    if (localName != null) {
      names.putIfAbsent(localName, next);
    }
  }

  private void delete(TaskRef ref) {
    Task old = look.mine(ref);
    if (old != null) {
      growthBytes -= Sizes.of(old);
      deleted.add(old);
    }
  }

  private void put(Transaction.Put put) {
    Document document = new Document(put.key(), next, body(put));
    next++;
    if (look.mayPut(put)) {
      Document old = look.store().document(put.key());
      growthBytes += Sizes.of(document) - (old == null ? 0 : Sizes.of(old));
      documents.add(document);
    }
  }

  /** What a put writes, all references filled in. */
  Bytes body(Transaction.Put put) {
    return put.template()
        ? Bytes.of(
            REFERENCE
                .matcher(put.body().utf8())
                .replaceAll(match -> String.valueOf(names.get(match.group(1)))))
        : put.body();
  }

  private void delete(DocumentVersion delete) {
    Document old = look.store().document(delete.key());
    if (old != null && look.isThere(delete.key(), delete.version())) {
      growthBytes -= Sizes.of(old);
      documentsDeleted.add(old);
    }
  }
}
