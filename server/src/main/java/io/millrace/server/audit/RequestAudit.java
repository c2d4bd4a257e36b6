package io.millrace.server.audit;

import io.millrace.access.audit.AuditEntry;
import io.millrace.access.audit.AuditEntry.Origin;
import io.millrace.access.audit.AuditEntry.Result;
import io.millrace.access.audit.AuditLog;
import io.millrace.http.AuditTrail;
import io.millrace.http.Caller;
import io.millrace.http.Request;
import io.millrace.http.Request.Change;
import io.millrace.http.Route;
import io.millrace.http.message.Headers;
import io.millrace.server.security.ClaimedIdentity;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.StoreClosedException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what requests leave in the audit log. Changes on routes for operators and administrators
 * have an entry each: in the transaction that makes the change, if the layer commits it on the
 * thread of the request, otherwise right after it. All others are counted by second. Safe for use
 * by threads.
 */
public final class RequestAudit implements AuditTrail {
  private static final Logger LOG = LoggerFactory.getLogger(RequestAudit.class);
  private static final String UNKNOWN = "unknown";

  /** The status of an answer that names another server. */
  private static final int DIRECTED = 307;

  private final AuditLog log;
  private final int maxOperations;

  /**
   * Of a log.
   *
   * @param maxOperations the most parts of a transaction; one with as many gets no entry
   */
  RequestAudit(AuditLog log, int maxOperations) {
    this.log = log;
    this.maxOperations = maxOperations;
  }

  @Override
  public void answered(Request request, int status, boolean mayBlock) {
    try {
      if (request.isAdmitted()) {
        changed(request, status, mayBlock);
      } else {
        refused(request, status);
      }
    } catch (StoreClosedException e) {
      LOG.debug("the audit log lacks {}, since the store is closed", request, e);
    }
  }

  private void changed(Request request, int status, boolean mayBlock) {
    if (status == DIRECTED) {
      // Nothing was done here; the server that does it records it.
      return;
    }
    Change change = request.change();
    Result result = status < 400 ? Result.DONE : status < 500 ? Result.REFUSED : Result.FAILED;
    if (result == Result.DONE && (change.count() == 0 || request.isRecorded())) {
      return;
    }
    AuditEntry entry = entry(request, result, status);
    if (request.isRecordedApart() && mayBlock && result != Result.REFUSED) {
      log.write(entry);
    } else {
      log.note(
          entry.origin(), entry.count(), entry.first(), entry.last(), request.isRecordedApart());
    }
  }

  @Override
  public void changed(Request request, String action, Change change, boolean done) {
    log.note(
        origin(request, action, change, done ? Result.DONE : Result.REFUSED, 101),
        change.count(),
        change.first(),
        change.last(),
        false);
  }

  private AuditEntry entry(Request request, Result result, int status) {
    Change change = request.change();
    boolean named = change.first() != null;
    String last = named ? change.last() : request.lastParameter();
    return new AuditEntry(
        log.now(),
        origin(request, result, status),
        Math.max(1, change.count()),
        named ? change.first() : last,
        last);
  }

  private static Origin origin(Request request, Result result, int status) {
    String action = request.action();
    return origin(request, action == null ? "read" : action, request.change(), result, status);
  }

  private static Origin origin(
      Request request, String action, Change change, Result result, int status) {
    Caller caller = request.caller();
    Caller.Reach.Area area = change.area();
    return new Origin(
        caller.principal(),
        caller.key(),
        request.client().getHostAddress(),
        api(request.route()),
        action,
        area == null ? null : area.name().toLowerCase(Locale.ROOT),
        change.scope(),
        result,
        status);
  }

  private static String api(Route route) {
    return route.method() + " " + route.path();
  }

  private void refused(Request request, int status) {
    if (request.hasCaller()) {
      // Roles, reach, or the parameters of a strict route.
      if (status != 400 || request.action() != null) {
        log.note(origin(request, Result.REFUSED, status), 1, null, null, false);
      }
      return;
    }
    ClaimedIdentity claimed =
        ClaimedIdentity.of(request.header(Headers.AUTHORIZATION).orElse(null));
    log.noteUnknown(
        new Origin(
            claimed.name() == null ? UNKNOWN : claimed.name(),
            claimed.key(),
            request.client().getHostAddress(),
            api(request.route()),
            "sign-in",
            null,
            "",
            Result.REFUSED,
            status));
  }

  /**
   * Commits a transaction; if the current request is to have an entry of its own and has none yet,
   * the entry is a part of it. If the store has no room for that, the transaction is committed
   * alone, and the entry comes after it.
   */
  public Outcome commit(TaskStore store, Transaction transaction) {
    Request request = Request.current();
    if (request == null
        || request.action() == null
        || !request.isRecordedApart()
        || request.isRecorded()
        || transaction.requestId() != null
        || operations(transaction) >= maxOperations) {
      return store.commit(transaction);
    }
    Transaction.Put put = log.put(entry(request, Result.DONE, 0));
    Outcome outcome = store.commit(with(transaction, put));
    switch (outcome) {
      case Outcome.Done done -> {
        request.recorded();
        log.written(put);
        List<Document> documents = done.documents();
        return new Outcome.Done(
            done.position(),
            done.timeMillis(),
            done.tasks(),
            documents.subList(0, documents.size() - 1),
            done.repeated());
      }
      case Outcome.Refused refused -> {
        return refused.reasons().stream().anyMatch(RequestAudit::isAboutRoom)
            ? store.commit(transaction)
            : refused;
      }
    }
  }

  private static boolean isAboutRoom(Reason reason) {
    return reason.kind() == Reason.Kind.FULL || reason.kind() == Reason.Kind.TOO_LARGE;
  }

  private static int operations(Transaction transaction) {
    return transaction.adds().size()
        + transaction.updates().size()
        + transaction.renewals().size()
        + transaction.takings().size()
        + transaction.deletes().size()
        + transaction.depends().size()
        + transaction.puts().size()
        + transaction.documentDeletes().size()
        + transaction.documentDepends().size();
  }

  private static Transaction with(Transaction transaction, Transaction.Put put) {
    List<Transaction.Put> puts = new ArrayList<>(transaction.puts());
    puts.add(put);
    return new Transaction(
        transaction.client(),
        transaction.adds(),
        transaction.updates(),
        transaction.renewals(),
        transaction.takings(),
        transaction.deletes(),
        transaction.depends(),
        puts,
        transaction.documentDeletes(),
        transaction.documentDepends(),
        transaction.requestId(),
        transaction.override());
  }
}
