package io.millrace.jobs.worker;

import io.millrace.jobs.JobsException;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView.Tally;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tallies as documents of the collection {@code jobs.workers}, named by a digest of the id. */
final class StoredTallies implements TallyBook {
  private static final String COLLECTION = "jobs.workers";
  private static final int PAGE = 1_000;
  private static final Owner SELF = Owner.client(1);
  private static final JsonMapper MAPPER = new JsonMapper();

  private final TaskStore store;

  StoredTallies(TaskStore store) {
    this.store = store;
  }

  @Override
  public Optional<Tally> read(WorkerId worker) {
    return store.document(key(worker)).value().map(StoredTallies::read);
  }

  @Override
  public void write(Map<WorkerId, Tally> tallies) {
    List<Map.Entry<WorkerId, Tally>> entries = new ArrayList<>(tallies.entrySet());
    for (int from = 0; from < entries.size(); from += PAGE) {
      Transaction.Builder transaction = Transaction.by(SELF);
      for (var entry : entries.subList(from, Math.min(entries.size(), from + PAGE))) {
        transaction.put(
            key(entry.getKey()), DocumentVersion.ANY, write(entry.getKey(), entry.getValue()));
      }
      store.commit(transaction.build()).done();
    }
  }

  private static DocumentKey key(WorkerId worker) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(worker.text().getBytes(StandardCharsets.UTF_8));
      return new DocumentKey(COLLECTION, HexFormat.of().formatHex(digest));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static Bytes write(WorkerId worker, Tally tally) {
    return Bytes.copyOf(
        MAPPER.writeValueAsBytes(
            MAPPER
                .createObjectNode()
                .put("id", worker.text())
                .put("succeeded", tally.succeeded())
                .put("failed", tally.failed())));
  }

  private static Tally read(Document document) {
    try {
      JsonNode json = MAPPER.readTree(document.body().toArray());
      return new Tally(json.required("succeeded").asLong(), json.required("failed").asLong());
    } catch (JacksonException e) {
      throw new JobsException("the document of a worker is damaged: " + e.getOriginalMessage(), e);
    }
  }
}
