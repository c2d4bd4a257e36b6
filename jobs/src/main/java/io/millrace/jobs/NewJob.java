package io.millrace.jobs;

import io.millrace.blobs.Value;
import io.millrace.store.Bytes;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.When;
import org.jspecify.annotations.Nullable;

/**
 * A job that is to be stored.
 *
 * @param id its GUID
 * @param order what is wanted
 * @param payload kept already
 * @param parent the job of whose result it is made; null when somebody submitted it
 * @param submittedMillis when
 */
record NewJob(
    JobId id, Submission order, Value payload, @Nullable JobId parent, long submittedMillis) {
  private static final int METADATA_BYTES = 1_000;

  /** About how many bytes it brings to a transaction. */
  long bytes() {
    return METADATA_BYTES + (payload instanceof Value.Inline ? payload.size() : 0);
  }

  /**
   * Adds its task and its documents, the job's first.
   *
   * @return how many documents
   */
  int writeTo(Transaction.Builder transaction, Batches.Spot spot) {
    Job job =
        new Job(
            id,
            order,
            JobStatus.PENDING,
            spot.batch(),
            new Job.Times(submittedMillis, null, null),
            0,
            0,
            Job.Hand.NOBODY,
            new Job.Line(parent, null, null),
            new Job.Content(payload.size(), null),
            new Job.Place(0, 0));
    String name = id.toString();
    String group = Groups.waiting(order.type(), order.priority());
    transaction.add(new Add(group, Bytes.of(name), When.now(), false, name));
    Bytes body = JobForm.write(new Entry(job, null), name);
    transaction.put(new Put(Keys.job(id), DocumentVersion.ABSENT, body, true));
    transaction.put(
        Keys.member(spot.batch(), id),
        DocumentVersion.ABSENT,
        Bytes.of(Integer.toString(spot.index())));
    int documents = 2;
    if (order.key() != null) {
      transaction.put(Keys.name(order.key()), DocumentVersion.ABSENT, Bytes.of(name));
      documents++;
    }
    if (payload instanceof Value.Inline inline) {
      transaction.put(Keys.payload(id), DocumentVersion.ANY, Bytes.copyOf(inline.bytes()));
      documents++;
    }
    return documents;
  }
}
