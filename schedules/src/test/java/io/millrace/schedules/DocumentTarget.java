package io.millrace.schedules;

import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.node.ObjectNode;

/** A target whose runs are documents that a test ends. */
final class DocumentTarget implements Target {
  private static final String COLLECTION = "test.runs";

  private final TaskStore store;
  private final AtomicLong ids;

  /** With ids that are unique among all users of {@code ids}. */
  DocumentTarget(TaskStore store, AtomicLong ids) {
    this.store = store;
    this.ids = ids;
  }

  /** A run as its document says. */
  record Started(
      String id, String schedule, Instant nominal, Instant started, String cause, String state) {
    boolean isActive() {
      return state.equals("running") || state.equals("stopping");
    }
  }

  /** All runs in the order of their starts. */
  List<Started> runs() {
    return store.documents(DocumentQuery.prefix(COLLECTION, "")).value().stream()
        .map(DocumentTarget::read)
        .toList();
  }

  private static Started read(Document document) {
    ObjectNode json = Json.read(document.body());
    return new Started(
        document.key().key(),
        json.required("schedule").asString(),
        Instant.ofEpochMilli(json.required("nominal").asLong()),
        Instant.ofEpochMilli(json.required("started").asLong()),
        json.required("cause").asString(),
        json.required("state").asString());
  }

  /** Ends a run. */
  void end(String id, Ending ending) {
    change(id, ending.name().toLowerCase(Locale.ROOT));
  }

  private void change(String id, String state) {
    DocumentKey key = new DocumentKey(COLLECTION, id);
    Document document = store.document(key).value().orElseThrow();
    ObjectNode json = Json.read(document.body());
    json.put("state", state);
    var _ =
        store.commit(
            Transaction.by(Owner.client(1)).put(key, document.version(), Json.write(json)).build());
  }

  @Override
  public String field() {
    return "document";
  }

  @Override
  public void check(ObjectNode description) {
    if (!description.path("document").isString()) {
      throw new InvalidScheduleException("target.document", "document is a string");
    }
  }

  @Override
  public boolean start(List<Request> runs, ObjectNode description, JointCommit commit) {
    if (description.path("document").asString().equals("none")) {
      throw new InvalidScheduleException("target.document", "it is gone");
    }
    Transaction.Builder transaction = commit.begin();
    List<String> ids = runs.stream().map(run -> start(transaction, run)).toList();
    return commit.commit(transaction, ids) != null;
  }

  private String start(Transaction.Builder transaction, Request run) {
    String id = "%09d".formatted(ids.incrementAndGet());
    ObjectNode json = Json.object();
    json.put("schedule", run.schedule());
    json.put("nominal", run.nominal().toEpochMilli());
    json.put("started", run.started().toEpochMilli());
    json.put("cause", run.cause().name());
    json.put("state", "running");
    transaction.put(new DocumentKey(COLLECTION, id), DocumentVersion.ABSENT, Json.write(json));
    return id;
  }

  @Override
  public Optional<End> end(String id) {
    Document document = store.document(new DocumentKey(COLLECTION, id)).value().orElse(null);
    if (document == null) {
      return Optional.of(new End(Ending.UNKNOWN, null));
    }
    Started run = read(document);
    return run.isActive()
        ? Optional.empty()
        : Optional.of(new End(Ending.valueOf(run.state().toUpperCase(Locale.ROOT)), "as told"));
  }

  @Override
  public void cancel(String id) {
    Document document = store.document(new DocumentKey(COLLECTION, id)).value().orElse(null);
    if (document != null && read(document).state().equals("running")) {
      change(id, "stopping");
    }
  }

  @Override
  public String collection() {
    return COLLECTION;
  }

  @Override
  public String runOf(DocumentKey key) {
    return key.key();
  }
}
