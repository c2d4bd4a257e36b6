package io.millrace.jobs.registry;

import io.millrace.blobs.Blob;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobClaim;
import io.millrace.jobs.JobId;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Deletes what belongs to no job: payloads of submissions that were cut off before the job itself
 * was stored, results of attempts that were not accepted, and documents whose job is gone.
 * Step-driven; for use by one thread. There may be several for one store.
 */
public final class JobSweeper {
  /** How old a blob without a job is at least: a submission may be on its way. */
  public static final Duration GRACE = Duration.ofHours(1);

  private static final Pattern PAYLOAD = Pattern.compile("([0-9a-f-]{36})\\.job");
  private static final Pattern RESULT = Pattern.compile("([0-9a-f-]{36})\\.(\\d{1,16})\\.result");
  private static final int PAGE = 500;

  private final JobStore store;

  JobSweeper(JobStore store) {
    this.store = store;
  }

  /**
   * Does what is due.
   *
   * @return in how many milliseconds it wants to be called again
   */
  public long step() {
    List<String> old = new ArrayList<>();
    long before = store.nowMillis() - GRACE.toMillis();
    try (Stream<Blob> all = store.blobs().list("")) {
      all.filter(blob -> blob.modified().toEpochMilli() < before)
          .map(Blob::name)
          .filter(name -> name.endsWith(".job") || name.endsWith(".result"))
          .forEach(old::add);
    }
    for (int from = 0; from < old.size(); from += PAGE) {
      sweep(old.subList(from, Math.min(old.size(), from + PAGE)));
    }
    sweepDocuments(Keys.PAYLOADS);
    sweepDocuments(Keys.RESULTS);
    return GRACE.toMillis();
  }

  private void sweep(List<String> names) {
    List<Matcher> blobs = new ArrayList<>();
    for (String name : names) {
      for (Pattern form : List.of(PAYLOAD, RESULT)) {
        Matcher blob = form.matcher(name);
        if (blob.matches() && JobId.parse(blob.group(1)).isPresent()) {
          blobs.add(blob);
        }
      }
    }
    Map<JobId, StoredJob> entries =
        store.entries(blobs.stream().map(blob -> JobJson.id(blob.group(1))).toList());
    for (Matcher blob : blobs) {
      StoredJob entry = entries.get(JobJson.id(blob.group(1)));
      boolean isResult = blob.groupCount() > 1;
      if (entry == null || (isResult && !isWanted(entry.job(), blob))) {
        store.blobs().delete(blob.group());
      }
    }
  }

  /** Whether a result was accepted, or its attempt may still report it. */
  private boolean isWanted(Job job, Matcher blob) {
    JobClaim claim = job.hand().claim();
    if (claim != null && claim.token() == Long.parseLong(blob.group(2))) {
      return true;
    }
    Long size = job.content().result();
    if (size == null || Contents.isInline(size)) {
      return false;
    }
    Optional<String> accepted = new Contents(store).resultBlob(job.id());
    return accepted.isEmpty() || accepted.get().equals(blob.group());
  }

  /** Documents go with their job in one commit, so this finds only what was damaged by hand. */
  private void sweepDocuments(String collection) {
    Iterator<Document> all = store.pages(collection, "", "").iterator();
    List<JobId> ids = new ArrayList<>();
    while (all.hasNext()) {
      ids.add(JobJson.id(all.next().key().key()));
      if (ids.size() == PAGE || !all.hasNext()) {
        Map<JobId, StoredJob> entries = store.entries(ids);
        ids.removeAll(entries.keySet());
        ids.forEach(id -> delete(new DocumentKey(collection, id.toString())));
        ids.clear();
      }
    }
  }

  private void delete(DocumentKey orphan) {
    JobId id = JobJson.id(orphan.key());
    Transaction transaction =
        Transaction.by(store.self())
            .delete(orphan, DocumentVersion.ANY)
            .depend(Keys.job(id), DocumentVersion.ABSENT)
            .build();
    // It is refused if another process has deleted it, or if the job was stored just now.
    store.commit(transaction);
  }
}
