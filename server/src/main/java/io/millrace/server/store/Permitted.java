package io.millrace.server.store;

import io.millrace.http.Caller;
import io.millrace.http.Caller.Role;
import io.millrace.http.message.HttpProblem;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import java.util.List;

/**
 * What a caller may read and change through {@code /store}. The documents of {@code /access} are
 * changed only there, and read only by callers with the role admin, since they hold hashes of
 * passwords.
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
    return collection.startsWith(ACCESS)
        && (collection.length() == ACCESS.length() || collection.charAt(ACCESS.length()) == '.');
  }

  /**
   * Checks a read of documents.
   *
   * @throws HttpProblem 403 if the caller may not read this collection
   */
  void checkRead(String collection) {
    if (isAccess(collection) && !caller.may(Role.ADMIN)) {
      throw new HttpProblem(403, "reading documents of " + collection + " needs the role admin");
    }
  }

  /**
   * Checks a transaction.
   *
   * @throws HttpProblem 403 if the caller may not make it
   */
  void check(Transaction transaction) {
    if (transaction.override() && !caller.may(Role.ADMIN)) {
      throw new HttpProblem(
          403, "override needs the role admin, which " + caller.principal() + " does not have");
    }
    for (Transaction.Put put : transaction.puts()) {
      checkChange(put.key().collection());
    }
    for (Transaction.DocumentVersion deleted : transaction.documentDeletes()) {
      checkChange(deleted.key().collection());
    }
  }

  private static void checkChange(String collection) {
    if (isAccess(collection)) {
      throw new HttpProblem(
          403, "documents of " + collection + " are changed under /access, not under /store");
    }
  }

  /** The part of a commit that the caller may see. */
  Commit visible(Commit commit) {
    if (caller.may(Role.ADMIN) || commit.changes().stream().allMatch(Permitted::isPublic)) {
      return commit;
    }
    List<Change> visible = commit.changes().stream().filter(Permitted::isPublic).toList();
    return new Commit(
        commit.position(), commit.timeMillis(), commit.client(), commit.override(), visible);
  }

  private static boolean isPublic(Change change) {
    return switch (change) {
      case Change.DocumentPut(long _, var document) -> !isAccess(document.key().collection());
      case Change.DocumentDeleted(var key, long _) -> !isAccess(key.collection());
      case Change.Added _, Change.Changed _, Change.Deleted _ -> true;
    };
  }
}
