package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A small store's folder as this version writes it: a snapshot, a tail, and something of everything
 * in both. Its {@link #main} writes a folder anew, for the day when the format gets a new version.
 */
final class GoldenFolder {
  static final Owner ANNA = new Owner("anna", 1);
  static final Owner BERT = new Owner("bert", 9_007_199_254_740_991L);
  static final DocumentKey STATE = new DocumentKey("state", "of the wörld");

  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);

  private GoldenFolder() {}

  static EmbeddedStore open(Path folder, FixedEnvironment environment) {
    return StoreStarter.open(
        StoreOptions.in(folder).withEnvironment(environment),
        FileJournal.open(environment, folder, SMALL));
  }

  /** Writes the folder given as the only argument, absent or empty, and prints its digest. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    System.out.println("digest " + write(folder));
    Files.deleteIfExists(folder.resolve("lock"));
  }

  /** Fills a folder; gives the digest of what it holds. */
  static String write(Path folder) {
    FixedEnvironment environment = new FixedEnvironment(1);
    try (EmbeddedStore store = open(folder, environment)) {
      fill(store, environment, "early");
      store.requestSnapshot();
      store.commit(Transaction.by(ANNA).add("one more", "begins the snapshot").build());
    }
    // Closing has waited for the snapshot; the tail belongs to a second reign.
    environment.advance(60_000);
    try (EmbeddedStore store = open(folder, environment)) {
      fill(store, environment, "late");
      return store.digest().value();
    }
  }

  private static void fill(EmbeddedStore store, FixedEnvironment environment, String name) {
    Transaction.Builder adds = Transaction.by(ANNA).requestId(name + " adds");
    for (int i = 0; i < 5; i++) {
      adds.add("waiting", name + " " + i);
    }
    adds.add(new Transaction.Add("waiting", Bytes.EMPTY, When.now(), false, "first"));
    adds.add(
        new Transaction.Add(
            "später", Bytes.of(name), When.after(Duration.ofHours(1)), false, null));
    adds.add(
        new Transaction.Add("später", Bytes.of(name), When.after(Duration.ofHours(2)), true, null));
    adds.put(
        new Transaction.Put(
            STATE, DocumentVersion.ANY, Bytes.of(name + " first is {{first}}"), true));
    DocumentKey gone = new DocumentKey("state", name);
    adds.put(gone, DocumentVersion.ABSENT, Bytes.of("soon gone"));
    store.commit(adds.build()).done();

    environment.advance(1_000);
    Claim claim =
        Claim.of(BERT, "waiting", Duration.ofMinutes(30))
            .withCount(4)
            .withOrder(Claim.Order.OLDEST)
            .withRequestId(name + " claim");
    List<Task> claimed = store.claim(claim).done().tasks();
    environment.advance(1_000);
    store
        .commit(
            Transaction.by(BERT)
                .renew(claimed.get(0).ref(), Duration.ofHours(3))
                .update(claimed.get(1).ref(), Bytes.of(name + " updated"), When.now())
                .delete(claimed.get(2).ref())
                .build())
        .done();
    store
        .commit(
            Transaction.by(ANNA)
                .override(true)
                .release(claimed.get(3).ref())
                .delete(gone, DocumentVersion.ANY)
                .build())
        .done();
  }
}
