package io.millrace.jobs.registry;

import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveSource;
import io.millrace.archive.ArchiveTable;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.registry.JobJson.Ending;
import io.millrace.jobs.registry.JobStore.TooLargeException;
import io.millrace.jobs.registry.TypeSettings.TypeRetentions;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Retention;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The jobs that have ended and leave the store, found by going through all jobs again and again,
 * page by page. An index of the ended jobs would cost each job memory and a larger commit. Which
 * jobs are beyond the number that stays is known from the pass before: that many ended later than
 * they did, or within the same millisecond.
 */
final class JobRetention implements ArchiveSource {
  private static final int PAGE = 1_000;

  /** The pause after a page of jobs that all stay, so that a pass takes a part of one core only. */
  private static final Duration PAGE_PAUSE = Duration.ofMillis(20);

  private static final Duration PASS_PAUSE = Duration.ofSeconds(1);

  /** The next pass begins at once if one out of fewer jobs than this has left. */
  private static final int BEHIND = 4;

  private final JobStore store;
  private final JobTypes types;
  private final Retention otherwise;
  private final TypeRetentions set;

  /** The jobs that were given last, by their ids. */
  private final Map<String, Leaving> leaving = new HashMap<>();

  private Map<String, Queue<Long>> latest = new HashMap<>();
  private Map<String, Long> limits = new HashMap<>();
  private String last = "";

  /** How many jobs are read at a time: no more than leave together, while many do. */
  private int page = PAGE;

  /** How many jobs the current pass has read, and how many of them it gave. */
  private long seen;

  private long given;

  /** What was set when the current pass began. */
  private Map<String, Policy> setNow = Map.of();

  JobRetention(JobStore store, JobTypes types, Retention otherwise) {
    this.store = store;
    this.types = types;
    this.otherwise = otherwise;
    this.set = new TypeRetentions(store);
  }

  private boolean keepsAll() {
    return retention("").isForever()
        && types.all().stream().allMatch(type -> retention(type.name()).isForever());
  }

  /**
   * A job that leaves the store.
   *
   * @param history the documents of its failures and returns
   */
  private record Leaving(Job job, List<DocumentKey> history) {}

  private Retention retention(String type) {
    return TypeRetentions.of(setNow, type, types.policy(type).retention(otherwise));
  }

  @Override
  public ArchiveTable table() {
    return ArchiveTable.JOBS;
  }

  @Override
  public Due due(Instant now, int most) {
    leaving.clear();
    if (last.isEmpty()) {
      setNow = set.all();
      if (keepsAll()) {
        return Due.of(List.of(), now.plus(PASS_PAUSE));
      }
    }
    List<Document> read =
        store.store().documents(new DocumentQuery(Keys.JOBS, "", last, page)).value();
    List<Document> due = new ArrayList<>();
    for (Document document : read) {
      if (due.size() == most) {
        break;
      }
      last = document.key().key();
      seen++;
      Ending ending = JobJson.ending(document);
      if (ending != null && isDue(ending, now)) {
        due.add(document);
      }
    }
    boolean over = read.size() < page && due.size() < most;
    page = due.size() < most ? PAGE : Math.min(PAGE, most);
    List<ArchiveRow> rows = due.isEmpty() ? List.of() : rows(due, now);
    given += rows.size();
    Duration pause = due.isEmpty() ? PAGE_PAUSE : Duration.ZERO;
    if (over) {
      pause = isBehind() ? Duration.ZERO : PASS_PAUSE;
      endPass();
    }
    return Due.of(rows, now.plus(pause));
  }

  /** Whether so many jobs have left that as many more may have ended meanwhile. */
  private boolean isBehind() {
    return given * BEHIND > seen;
  }

  private boolean isDue(Ending ending, Instant now) {
    Retention retention = retention(ending.type());
    Long count = retention.count();
    if (count != null) {
      if (count == 0 || ending.millis() < limits.getOrDefault(ending.type(), Long.MIN_VALUE)) {
        return true;
      }
      Queue<Long> ends = latest.computeIfAbsent(ending.type(), _ -> new PriorityQueue<>());
      ends.add(ending.millis());
      if (ends.size() > count) {
        ends.remove();
      }
    }
    return ending.millis() < retention.limitMillis(now);
  }

  /** Of each type with more jobs than stay, the first of those that do sets the limit. */
  private void endPass() {
    last = "";
    seen = 0;
    given = 0;
    limits = new HashMap<>();
    latest.forEach((type, ends) -> {
      Long first = ends.peek();
      Long count = retention(type).count();
      if (first != null && count != null && ends.size() == count) {
        limits.put(type, first);
      }
    });
    latest = new HashMap<>();
  }

  /** Whether its result is still to become another job, or its unique key is still held. */
  private static boolean isNeeded(Job job, Instant now) {
    Job.Hold hold = job.place().hold();
    return job.line().followOn() != null
        || (hold != null && hold.untilMillis() > now.toEpochMilli());
  }

  private List<ArchiveRow> rows(List<Document> due, Instant now) {
    Map<String, Document> documents = new TreeMap<>();
    due.forEach(each -> documents.put(each.key().key(), each));
    Map<String, List<Document>> payloads = of(documents.keySet(), Keys.PAYLOADS);
    Map<String, List<Document>> results = of(documents.keySet(), Keys.RESULTS);
    Map<String, List<Document>> failures = of(documents.keySet(), Keys.FAILURES);
    Map<String, List<Document>> returns = of(documents.keySet(), Keys.RETURNS);
    List<ArchiveRow> rows = new ArrayList<>();
    documents.forEach((id, document) -> {
      Job job = JobJson.readJob(document).job();
      if (isNeeded(job, now)) {
        return;
      }
      List<Document> failed = failures.getOrDefault(id, List.of());
      List<Document> returned = returns.getOrDefault(id, List.of());
      List<DocumentKey> history = new ArrayList<>();
      failed.forEach(each -> history.add(each.key()));
      returned.forEach(each -> history.add(each.key()));
      leaving.put(id, new Leaving(job, history));
      rows.add(
          row(
              job,
              only(payloads.get(id)),
              only(results.get(id)),
              JobJson.archived(document, failed, returned)));
    });
    return rows;
  }

  /**
   * The documents of some jobs in a collection whose keys begin with their ids. The jobs were
   * submitted one after the other, so one range is read.
   */
  private Map<String, List<Document>> of(Set<String> ids, String collection) {
    TreeSet<String> sorted = new TreeSet<>(ids);
    String first = sorted.first();
    Map<String, List<Document>> found = new HashMap<>();
    for (Document each :
        store.pages(collection, first.substring(0, first.length() - 1), sorted.size())) {
      String key = each.key().key();
      String id = key.substring(0, Math.min(key.length(), first.length()));
      if (id.compareTo(sorted.last()) > 0) {
        break;
      }
      if (sorted.contains(id)) {
        found.computeIfAbsent(id, _ -> new ArrayList<>()).add(each);
      }
    }
    return found;
  }

  private static Optional<Document> only(@Nullable List<Document> documents) {
    return documents == null ? Optional.empty() : Optional.of(documents.getFirst());
  }

  private static ArchiveRow row(
      Job job, Optional<Document> payload, Optional<Document> result, String document) {
    Long resultBytes = job.content().result();
    boolean inline = resultBytes != null && JobStore.isInline(resultBytes);
    Function<Document, byte[]> bytes = found -> found.body().toArray();
    return ArchiveRow.of(ArchiveTable.JOBS, job.id().toString())
        .put("job_key", job.key())
        .put("type", job.type())
        .put("status", job.status().word())
        .put("priority", job.order().priority().word())
        .put("batch", job.batch())
        .put("worker", job.hand().worker() == null ? null : job.hand().worker().text())
        .put("submitted", job.times().submitted())
        .put("started", job.times().started())
        .put(ArchiveTable.FINISHED, job.times().ended())
        .put("failures", (long) job.failures())
        .put("returns", (long) job.returns())
        .put("payload_bytes", job.content().payload())
        .put("result_bytes", resultBytes)
        .put("payload", payload.map(bytes).orElse(null))
        .put("result", inline ? result.map(bytes).orElse(null) : null)
        .put("result_blob", inline ? null : result.map(found -> found.body().utf8()).orElse(null))
        .put("document", document)
        .build();
  }

  @Override
  public Set<String> remove(List<String> ids) {
    Set<String> kept = new HashSet<>();
    remove(ids.stream().map(leaving::get).toList(), kept);
    removeBatches(
        ids.stream()
            .filter(id -> !kept.contains(id))
            .map(id -> leaving.get(id).job().batch())
            .collect(Collectors.toSet()));
    return kept;
  }

  /** Removes jobs in one transaction, or in smaller ones if one of them has changed. */
  private void remove(List<Leaving> jobs, Set<String> kept) {
    if (jobs.isEmpty() || tryRemove(jobs)) {
      return;
    }
    if (jobs.size() == 1) {
      kept.add(jobs.getFirst().job().id().toString());
      return;
    }
    int half = jobs.size() / 2;
    remove(jobs.subList(0, half), kept);
    remove(jobs.subList(half, jobs.size()), kept);
  }

  private boolean tryRemove(List<Leaving> jobs) {
    JobTransaction transaction = new JobTransaction(store.self());
    for (Leaving each : jobs) {
      Job job = each.job();
      JobId id = job.id();
      transaction.delete(Keys.job(id), job.place().version());
      transaction.delete(Keys.member(job.batch(), id), DocumentVersion.ANY);
      if (job.order().key() != null) {
        transaction.delete(Keys.name(job.order().key()), DocumentVersion.ANY);
      }
      if (JobStore.isInline(job.content().payload())) {
        transaction.delete(Keys.payload(id), DocumentVersion.ANY);
      }
      if (job.content().result() != null) {
        transaction.delete(Keys.result(id), DocumentVersion.ANY);
      }
      each.history().forEach(key -> transaction.delete(key, DocumentVersion.ANY));
    }
    try {
      return store.commit(transaction) instanceof Outcome.Done;
    } catch (TooLargeException e) {
      if (jobs.size() == 1) {
        throw e;
      }
      return false;
    }
  }

  /** Removes batches of which no job is left and that are not being filled. */
  private void removeBatches(Set<Long> batches) {
    for (long number : batches) {
      String members = Keys.members(number);
      Optional<Document> batch = store.document(Keys.batch(number));
      if (batch.isPresent()
          && store
              .store()
              .documents(new DocumentQuery(Keys.MEMBERS, members, "", 1))
              .value()
              .isEmpty()
          && !isFilled(batch.get(), number)) {
        store.tryCommit(store.begin().delete(batch.get().key(), batch.get().version()).build());
      }
    }
  }

  private boolean isFilled(Document batch, long number) {
    return store
        .document(Keys.current(JobJson.readBatch(batch).type()))
        .filter(current -> Long.parseLong(current.body().utf8()) == number)
        .isPresent();
  }

  @Override
  public Set<String> present(Collection<String> ids) {
    return store.entries(ids.stream().map(JobJson::id).toList()).keySet().stream()
        .map(JobId::toString)
        .collect(Collectors.toSet());
  }
}
