package io.millrace.jobs;

import io.millrace.store.Document;
import io.millrace.store.DocumentQuery;
import io.millrace.store.GroupQuery;
import io.millrace.store.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where jobs and batches are found. */
final class Listing {
  private final Ledger ledger;
  private final Groups groups;

  Listing(Ledger ledger, Groups groups) {
    this.ledger = ledger;
    this.groups = groups;
  }

  Optional<Entry> find(String keyOrId) {
    if (keyOrId.isEmpty() || keyOrId.length() > Submission.MOST_KEY) {
      return Optional.empty();
    }
    Optional<JobId> id = JobId.parse(keyOrId);
    if (id.isPresent()) {
      return ledger.entry(id.get());
    }
    return ledger
        .document(Keys.name(keyOrId))
        .flatMap(name -> ledger.entry(JobForm.id(name.body().utf8())));
  }

  List<Job> list(JobFilter filter, @Nullable JobId after, int limit) {
    if (limit < 1) {
      throw new InvalidJobException("limit is at least 1, not " + limit);
    }
    String begin = after == null ? "" : after.toString();
    Long batch = filter.batch();
    return batch == null ? all(filter, begin, limit) : ofBatch(batch, filter, begin, limit);
  }

  private List<Job> all(JobFilter filter, String after, int limit) {
    List<Job> found = new ArrayList<>();
    Iterator<Document> all = ledger.iterator(Keys.JOBS, "", after);
    while (found.size() < limit && all.hasNext()) {
      Job job = JobForm.read(all.next()).job();
      if (filter.matches(job)) {
        found.add(job);
      }
    }
    return found;
  }

  /** The members' keys lead to the jobs, since a batch may be a small part of them all. */
  private List<Job> ofBatch(long batch, JobFilter filter, String after, int limit) {
    if (!Batch.isNumber(batch)) {
      return List.of();
    }
    String prefix = Keys.members(batch);
    Iterator<Document> members = ledger.iterator(Keys.MEMBERS, prefix, prefix + after);
    List<Job> found = new ArrayList<>();
    while (found.size() < limit && members.hasNext()) {
      List<JobId> ids = new ArrayList<>();
      while (ids.size() < limit - found.size() && members.hasNext()) {
        ids.add(JobForm.id(members.next().key().key().substring(prefix.length())));
      }
      present(ids).stream().filter(filter::matches).forEach(found::add);
    }
    return found;
  }

  List<Failure> failures(JobId id) {
    return attempts(Keys.FAILURES, id);
  }

  List<Failure> returns(JobId id) {
    return attempts(Keys.RETURNS, id);
  }

  private List<Failure> attempts(String collection, JobId id) {
    List<Failure> attempts = new ArrayList<>();
    ledger.each(collection, Keys.failures(id), each -> attempts.add(FailureForm.read(each)));
    return attempts;
  }

  Optional<Batch> batch(long id) {
    return Batch.isNumber(id)
        ? ledger.document(Keys.batch(id)).map(BatchForm::read)
        : Optional.empty();
  }

  List<Batch> batches(long after, int limit) {
    if (limit < 1) {
      throw new InvalidJobException("limit is at least 1, not " + limit);
    }
    String last = Keys.padded(Math.clamp(after, 0, 1L << 53));
    return ledger
        .store()
        .documents(new DocumentQuery(Keys.BATCHES, "", last, limit))
        .value()
        .stream()
        .map(BatchForm::read)
        .toList();
  }

  /** In the order of submission, which the members' documents tell. */
  List<Job> jobsOf(long batch) {
    if (!Batch.isNumber(batch)) {
      return List.of();
    }
    record Member(int index, JobId id) {}
    String prefix = Keys.members(batch);
    List<Member> members = new ArrayList<>();
    ledger.each(
        Keys.MEMBERS,
        prefix,
        each ->
            members.add(
                new Member(
                    Integer.parseInt(each.body().utf8()),
                    JobForm.id(each.key().key().substring(prefix.length())))));
    members.sort(Comparator.comparingInt(Member::index));
    return present(members.stream().map(Member::id).toList());
  }

  List<Job> next(String type, int most) {
    if (most < 1) {
      throw new InvalidJobException("at least 1 job is asked for, not " + most);
    }
    List<String> all = new ArrayList<>(Groups.waiting(type));
    all.addAll(groups.failed(type));
    List<JobId> ids = new ArrayList<>();
    for (String group : all) {
      if (ids.size() == most) {
        break;
      }
      GroupQuery query = new GroupQuery(group, most - ids.size(), false);
      for (Task task : ledger.store().group(query).value()) {
        ids.add(JobForm.id(task.data().utf8()));
      }
    }
    return present(ids);
  }

  private List<Job> present(List<JobId> ids) {
    Map<JobId, Entry> entries = ledger.entries(ids);
    return ids.stream().map(entries::get).filter(Objects::nonNull).map(Entry::job).toList();
  }
}
