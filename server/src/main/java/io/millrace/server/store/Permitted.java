package io.millrace.server.store;

import io.millrace.http.Caller;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Caller.Role;
import io.millrace.http.message.HttpProblem;
import io.millrace.store.Claim;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.wire.Namespace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a caller may read and change through {@code /store}: groups and collections within its
 * reach. The documents of {@code /access} are changed only there, and read only by callers with the
 * role admin, since they hold hashes of passwords. Groups and collections of the systems on the
 * store are changed only by callers with the role operator, such as execution nodes on other
 * machines: otherwise whoever may submit could change any task of a queue.
 */
record Permitted(Caller caller) {
  private static final String ACCESS = "access";

  /**
   * The principal whose tasks the caller owns. Callers without a principal of their own are one.
   */
  String owner() {
    return caller.equals(Caller.LOCAL) || caller.equals(Caller.OWNER)
        ? Owner.ANYONE
        : caller.principal();
  }

  /** Whether documents of this collection belong to {@code /access}. */
  private static boolean isAccess(String collection) {
    return Namespace.of(collection).equals(ACCESS);
  }

  private boolean reaches(String name) {
    return caller.reach().includes(Area.GROUPS, name);
  }

  /** Whether the caller may read this group or collection. */
  boolean mayRead(String name) {
    return reaches(name) && (!isAccess(name) || caller.may(Role.ADMIN));
  }

  /**
   * Checks a read.
   *
   * @param name a group or collection
   * @throws HttpProblem 403 if the caller may not read it
   */
  void checkRead(String name) {
    checkReach(name);
    if (isAccess(name) && !caller.may(Role.ADMIN)) {
      throw new HttpProblem(403, "reading documents of " + name + " requires the role admin");
    }
  }

  private void checkReach(String name) {
    if (!reaches(name)) {
      throw new HttpProblem(403, name + " is out of reach of " + caller.principal());
    }
  }

  /** The tasks that the caller may see; the others are as if they were not there. */
  List<Optional<Task>> visible(List<Optional<Task>> tasks) {
    return caller.reach().coversEverything()
        ? tasks
        : tasks.stream().map(task -> task.filter(it -> reaches(it.group()))).toList();
  }

  /** Whether a transaction of the caller is checked without reading the store. */
  boolean isQuick() {
    return caller.reach().coversEverything() && caller.may(Role.OPERATOR);
  }

  /**
   * Checks a transaction.
   *
   * @throws HttpProblem 403 if the caller may not make it
   */
  void check(Transaction transaction, TaskStore store) {
    if (transaction.override() && !caller.may(Role.ADMIN)) {
      throw new HttpProblem(
          403, "override requires the role admin, which " + caller.principal() + " does not have");
    }
    for (Transaction.Put put : transaction.puts()) {
      checkDocument(put.key().collection());
    }
    for (Transaction.DocumentVersion deleted : transaction.documentDeletes()) {
      checkDocument(deleted.key().collection());
    }
    if (isQuick()) {
      return;
    }
    transaction.adds().forEach(add -> checkChange(add.group()));
    transaction.documentDepends().forEach(it -> checkRead(it.key().collection()));
    List<TaskRef> changed = new ArrayList<>(transaction.deletes());
    transaction.updates().forEach(update -> changed.add(update.task()));
    transaction.renewals().forEach(renewal -> changed.add(renewal.task()));
    transaction.takings().forEach(taking -> changed.add(taking.task()));
    // A task keeps its group, so what is read now holds when the transaction is decided.
    groups(changed, store).forEach(this::checkChange);
    groups(transaction.depends(), store).forEach(this::checkReach);
  }

  /** The groups of those tasks that are there. */
  private static Set<String> groups(List<TaskRef> refs, TaskStore store) {
    return refs.isEmpty()
        ? Set.of()
        : store.tasks(refs).value().stream()
            .flatMap(Optional::stream)
            .map(Task::group)
            .collect(Collectors.toSet());
  }

  /**
   * Checks a claim.
   *
   * @throws HttpProblem 403 if the caller may not make it
   */
  void check(Claim claim, TaskStore store) {
    if (!isQuick()) {
      claim.groups().forEach(this::checkChange);
      groups(claim.depends(), store).forEach(this::checkReach);
    }
  }

  private void checkDocument(String collection) {
    if (isAccess(collection)) {
      throw new HttpProblem(
          403, "documents of " + collection + " are changed under /access, not under /store");
    }
    checkChange(collection);
  }

  private void checkChange(String name) {
    checkReach(name);
    if (!caller.may(Role.OPERATOR) && Namespace.isOfSystem(Namespace.of(name))) {
      throw new HttpProblem(
          403,
          "changing %s requires the role operator, which %s does not have"
              .formatted(name, caller.principal()));
    }
  }

  /** The part of a commit that the caller may see. */
  Commit visible(Commit commit) {
    if (caller.reach().coversEverything() && caller.may(Role.ADMIN)) {
      return commit;
    }
    List<Change> visible = commit.changes().stream().filter(this::isVisible).toList();
    return visible.size() == commit.changes().size()
        ? commit
        : new Commit(
            commit.position(), commit.timeMillis(), commit.client(), commit.override(), visible);
  }

  private boolean isVisible(Change change) {
    return switch (change) {
      case Change.Added(Task task) -> reaches(task.group());
      case Change.Changed(long _, Task task, boolean _) -> reaches(task.group());
      case Change.Deleted(long _, long _, String group) -> reaches(group);
      case Change.DocumentPut(long _, Document document) -> mayRead(document.key().collection());
      case Change.DocumentDeleted(DocumentKey key, long _) -> mayRead(key.collection());
    };
  }
}
