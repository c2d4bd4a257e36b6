package io.millrace.jobs.worker;

import com.fasterxml.jackson.annotation.JsonInclude.Include;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView.Seen;
import io.millrace.jobs.worker.WorkerView.Tally;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.Sha256;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What is known of workers beyond their connections, by their own ids: what they have done, and
 * when they were last connected. It is kept in memory, and in the store with a delay of some
 * seconds, as documents of the collection {@code jobs.workers}. The thousand workers that were
 * disconnected last are listed; of earlier ones only what they have done is kept. Without tracking
 * nothing is stored.
 *
 * <p>The list of disconnected workers is guarded by the monitor of the {@link WorkerManager};
 * everything else guards itself.
 */
final class WorkerHistory {
  /** How many disconnected workers are listed. */
  static final int MAX_LISTED = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(WorkerHistory.class);
  private static final String COLLECTION = "jobs.workers";
  private static final int PAGE = 1_000;
  private static final Owner SELF = Owner.client(1);
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .changeDefaultPropertyInclusion(each -> each.withValueInclusion(Include.NON_NULL))
          .build();

  /** How far the stored time of a connected worker's last sign of life may lag behind. */
  private static final long SEEN_MILLIS = 60_000;

  private final TaskStore store;
  private final boolean tracking;
  private final LinkedHashMap<WorkerId, WorkerView> disconnected = new LinkedHashMap<>();
  private final Map<WorkerId, Known> known = new HashMap<>();
  private final Set<WorkerId> unsaved = new HashSet<>();
  private final Set<WorkerId> forgotten = new HashSet<>();

  /**
   * What is known of a worker.
   *
   * @param presence its last connection; null if only its tally was stored, by an old version
   */
  private record Known(Tally tally, @Nullable Presence presence) {
    static final Known NOTHING = new Known(Tally.NONE, null);
  }

  private record Presence(String name, String type, Seen seen) {}

  WorkerHistory(TaskStore store, boolean tracking) {
    this.store = store;
    this.tracking = tracking;
  }

  // ---- disconnected workers, under the monitor of the manager

  /**
   * A worker has gone.
   *
   * @param exactly whether that moment is to be stored; workers that ask over HTTP come and go
   */
  void gone(WorkerView view, boolean exactly) {
    disconnected.remove(view.id());
    disconnected.put(view.id(), view);
    if (tracking) {
      seen(view, exactly);
    }
    while (disconnected.size() > MAX_LISTED) {
      forget(disconnected.pollFirstEntry().getValue());
    }
  }

  /** A worker has connected again. */
  void back(WorkerView view) {
    disconnected.remove(view.id());
    if (tracking) {
      seen(view, false);
    }
  }

  /** The disconnected workers, in the order in which they went. */
  List<WorkerView> disconnected() {
    return List.copyOf(disconnected.values());
  }

  Optional<WorkerView> find(String id) {
    return disconnected.values().stream().filter(view -> view.id().text().equals(id)).findFirst();
  }

  /** Lists workers of earlier runs of the server. */
  void list(List<WorkerView> views) {
    views.forEach(view -> disconnected.putIfAbsent(view.id(), view));
  }

  // ---- tallies

  /** Loads what a worker has done. It reads the store: not to be called under a lock. */
  void recall(WorkerId worker) {
    if (!tracking) {
      return;
    }
    synchronized (this) {
      if (known.containsKey(worker)) {
        return;
      }
    }
    Known stored =
        store
            .document(key(worker))
            .value()
            .map(document -> Stored.read(document).known())
            .orElse(Known.NOTHING);
    synchronized (this) {
      known.putIfAbsent(worker, stored);
    }
  }

  /** What a worker has done over all its connections; nothing without tracking. */
  synchronized Tally tally(WorkerId worker) {
    return known.getOrDefault(worker, Known.NOTHING).tally();
  }

  /**
   * Counts what a worker has done; under the monitor of the manager.
   *
   * @param left whether its connection was over by then
   */
  void count(WorkerId worker, Tally more, boolean left) {
    if (left) {
      disconnected.computeIfPresent(worker, (_, view) -> view.with(view.tally().plus(more)));
    }
    if (tracking && !more.equals(Tally.NONE)) {
      synchronized (this) {
        Known before = known.getOrDefault(worker, Known.NOTHING);
        known.put(worker, new Known(before.tally().plus(more), before.presence()));
        unsaved.add(worker);
      }
    }
  }

  // ---- the store

  /**
   * Notes that a worker was connected.
   *
   * @param exactly whether the time of its last sign is to be stored at once
   */
  private synchronized void seen(WorkerView view, boolean exactly) {
    forgotten.remove(view.id());
    Known before = known.getOrDefault(view.id(), Known.NOTHING);
    Presence stored = before.presence();
    Presence now = new Presence(view.name(), view.type(), view.seen());
    if (stored == null
        || (exactly && !now.equals(stored))
        || now.seen().last() - stored.seen().last() >= SEEN_MILLIS) {
      known.put(view.id(), new Known(before.tally(), now));
      unsaved.add(view.id());
    }
  }

  /** Drops a worker that is no longer listed, except for what it has done. */
  private synchronized void forget(WorkerView view) {
    if (tracking && view.tally().equals(Tally.NONE)) {
      known.remove(view.id());
      unsaved.remove(view.id());
      forgotten.add(view.id());
    } else if (!unsaved.contains(view.id())) {
      known.remove(view.id());
    }
  }

  /**
   * Stores what has changed. What cannot be stored now is kept for the next time. Not to be called
   * under a lock.
   *
   * @param connected the workers that are connected now
   * @param exactly whether their last signs of life are to be stored whatever was stored before
   */
  void save(List<WorkerView> connected, boolean exactly) {
    if (!tracking) {
      return;
    }
    connected.forEach(view -> seen(view, exactly));
    Map<WorkerId, Known> changed = new LinkedHashMap<>();
    List<WorkerId> gone;
    synchronized (this) {
      unsaved.forEach(worker -> changed.put(worker, Objects.requireNonNull(known.get(worker))));
      unsaved.clear();
      gone = List.copyOf(forgotten);
      forgotten.clear();
    }
    try {
      write(List.copyOf(changed.entrySet()));
      gone.forEach(this::delete);
    } catch (RuntimeException e) {
      synchronized (this) {
        changed.forEach((worker, mine) -> {
          known.putIfAbsent(worker, mine);
          unsaved.add(worker);
        });
        gone.stream().filter(worker -> !known.containsKey(worker)).forEach(forgotten::add);
      }
      throw e;
    }
  }

  /** Together, or in halves when that is more than the store takes at once. */
  private void write(List<Map.Entry<WorkerId, Known>> changed) {
    if (changed.isEmpty()) {
      return;
    }
    Transaction.Builder transaction = Transaction.by(SELF);
    for (var entry : changed) {
      transaction.put(
          key(entry.getKey()), DocumentVersion.ANY, Stored.write(entry.getKey(), entry.getValue()));
    }
    Outcome outcome = store.commit(transaction.build());
    boolean tooLarge =
        outcome instanceof Outcome.Refused refused
            && refused.reasons().stream().anyMatch(each -> each.kind() == Reason.Kind.TOO_LARGE);
    if (!tooLarge || changed.size() == 1) {
      outcome.done();
      return;
    }
    int half = changed.size() / 2;
    write(changed.subList(0, half));
    write(changed.subList(half, changed.size()));
  }

  private void delete(WorkerId worker) {
    Transaction.Builder transaction = Transaction.by(SELF);
    transaction.delete(key(worker), DocumentVersion.ANY);
    if (store.commit(transaction.build()) instanceof Outcome.Refused) {
      LOG.debug("worker {} was not stored", worker);
    }
  }

  /** The last known state of a worker that is not listed; reads the store. */
  Optional<WorkerView> stored(String id) {
    if (!tracking) {
      return Optional.empty();
    }
    try {
      WorkerId worker = new WorkerId(id);
      return store
          .document(key(worker))
          .value()
          .flatMap(document -> view(worker, Stored.read(document).known()));
    } catch (InvalidJobException _) {
      return Optional.empty();
    }
  }

  /**
   * The workers that were connected last, as they are stored, in the order of their last signs of
   * life. Reads the whole collection, and forgets workers that are not listed and have done
   * nothing.
   */
  List<WorkerView> stored() {
    PriorityQueue<WorkerView> latest =
        new PriorityQueue<>(Comparator.comparingLong((WorkerView view) -> view.seen().last()));
    String after = "";
    List<Document> page = tracking ? page(after) : List.of();
    while (!page.isEmpty()) {
      for (Document document : page) {
        Stored stored = Stored.read(document);
        view(new WorkerId(stored.id()), stored.known()).ifPresent(latest::add);
        if (latest.size() > MAX_LISTED) {
          forget(latest.remove());
        }
      }
      after = page.getLast().key().key();
      page = page(after);
    }
    List<WorkerView> views = new ArrayList<>();
    for (WorkerView view = latest.poll(); view != null; view = latest.poll()) {
      views.add(view);
    }
    return views;
  }

  private List<Document> page(String after) {
    return store.documents(new DocumentQuery(COLLECTION, "", after, PAGE)).value();
  }

  private static Optional<WorkerView> view(WorkerId worker, Known stored) {
    Presence presence = stored.presence();
    return presence == null
        ? Optional.empty()
        : Optional.of(
            new WorkerView(
                worker,
                presence.name(),
                presence.type(),
                WorkerView.State.DISCONNECTED,
                List.of(),
                stored.tally(),
                presence.seen()));
  }

  private static DocumentKey key(WorkerId worker) {
    return new DocumentKey(COLLECTION, Sha256.hex(worker.text()));
  }

  /** The document of a worker. Without a time of the last sign an old version has written it. */
  private record Stored(
      String id,
      long succeeded,
      long failed,
      @Nullable String name,
      @Nullable String type,
      @Nullable Long connected,
      @Nullable Long lastSeen) {
    static Bytes write(WorkerId worker, Known known) {
      Tally tally = known.tally();
      Presence last = known.presence();
      Stored stored =
          last == null
              ? new Stored(worker.text(), tally.succeeded(), tally.failed(), null, null, null, null)
              : new Stored(
                  worker.text(),
                  tally.succeeded(),
                  tally.failed(),
                  last.name(),
                  last.type(),
                  last.seen().connected(),
                  last.seen().last());
      return Bytes.copyOf(MAPPER.writeValueAsBytes(stored));
    }

    static Stored read(Document document) {
      try {
        return MAPPER.readValue(document.body().toArray(), Stored.class);
      } catch (JacksonException e) {
        throw new JobsException(
            "the document of a worker is damaged: " + e.getOriginalMessage(), e);
      }
    }

    Known known() {
      Tally tally = new Tally(succeeded, failed);
      return name == null || type == null || connected == null || lastSeen == null
          ? new Known(tally, null)
          : new Known(tally, new Presence(name, type, new Seen(connected, lastSeen)));
    }
  }
}
