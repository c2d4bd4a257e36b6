package io.millrace.jobs.registry;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveException;
import io.millrace.archive.ArchiveQuery;
import io.millrace.archive.ArchiveQuery.Condition;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveTable;
import io.millrace.blobs.UnownedBlobs;
import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what belongs to no job: payloads of submissions that were cut off before the job itself
 * was stored, results of attempts that were not accepted, documents whose job is gone, and unique
 * keys whose period has ended. Step-driven; for use by one thread. There may be several for one
 * store.
 */
public final class JobSweeper implements Step {
  /** How old a blob without a job is at least: a submission may be on its way. */
  public static final Duration GRACE = Duration.ofHours(1);

  /** The payload of a job, or the result of an attempt with the token of its claim. */
  private static final Pattern BLOB =
      Pattern.compile("([0-9a-f-]{36})\\.(?:job|(\\d{1,16})\\.result)");

  private static final int PAGE = 500;

  private static final Logger LOG = LoggerFactory.getLogger(JobSweeper.class);

  private final JobStore store;
  private final Archive archive;

  JobSweeper(JobStore store, Archive archive) {
    this.store = store;
    this.archive = archive;
  }

  @Override
  public Instant step(Instant now) {
    Instant before = now.minus(GRACE);
    UnownedBlobs.sweep(store.blobs(), "", before, JobSweeper::isOfJob, this::removeOwned);
    sweepDocuments(Keys.PAYLOADS);
    sweepDocuments(Keys.RESULTS);
    new UniqueJobs(store).sweep(now.toEpochMilli());
    return now.plus(GRACE);
  }

  private static boolean isOfJob(String name) {
    Matcher blob = BLOB.matcher(name);
    return blob.matches() && JobId.parse(blob.group(1)).isPresent();
  }

  private void removeOwned(Set<String> names) {
    List<Matcher> blobs = names.stream().map(BLOB::matcher).filter(Matcher::matches).toList();
    for (int from = 0; from < blobs.size(); from += PAGE) {
      List<Matcher> page = blobs.subList(from, Math.min(blobs.size(), from + PAGE));
      Map<JobId, StoredJob> entries = store.entries(page.stream().map(JobSweeper::job).toList());
      for (Matcher blob : page) {
        StoredJob entry = entries.get(job(blob));
        if (entry != null && isWanted(entry.job(), blob)) {
          names.remove(blob.group());
        }
      }
    }
    removeArchived(names);
  }

  /** Keeps the payloads and results of archived jobs, and everything while that is not known. */
  private void removeArchived(Set<String> names) {
    Map<String, List<Matcher>> byJob =
        names.stream()
            .map(BLOB::matcher)
            .filter(Matcher::matches)
            .collect(Collectors.groupingBy(blob -> blob.group(1)));
    List<String> ids = List.copyOf(byJob.keySet());
    try {
      for (int from = 0; from < ids.size(); from += PAGE) {
        List<String> page = ids.subList(from, Math.min(ids.size(), from + PAGE));
        ArchiveQuery query = ArchiveQuery.newest(ArchiveTable.JOBS, PAGE);
        for (ArchiveRow row :
            archive.summaries(query.where(new Condition.OneOf(ArchiveTable.ID, page)))) {
          for (Matcher blob : byJob.getOrDefault(row.id(), List.of())) {
            if (blob.group(2) == null || blob.group().equals(row.text("result_blob"))) {
              names.remove(blob.group());
            }
          }
        }
      }
    } catch (ArchiveException e) {
      LOG.debug("no blobs of jobs are deleted", e);
      names.clear();
    }
  }

  private static JobId job(Matcher blob) {
    return JobJson.id(blob.group(1));
  }

  /** Whether it is a payload, or a result that was accepted or that its attempt may report. */
  private boolean isWanted(Job job, Matcher blob) {
    String token = blob.group(2);
    JobClaim claim = job.hand().claim();
    if (token == null || (claim != null && claim.token() == Long.parseLong(token))) {
      return true;
    }
    Long size = job.content().result();
    if (size == null || JobStore.isInline(size)) {
      return false;
    }
    Optional<String> accepted = store.resultBlob(job.id());
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
