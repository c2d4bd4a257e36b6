package io.millrace.server;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import io.millrace.wire.Placement;
import java.util.Optional;

/** The note in each shard of a store of which division it is, so that none is led as of another. */
final class Division {
  private static final DocumentKey NOTE = new DocumentKey("cluster.shards", "division");

  private Division() {}

  /**
   * Checks that a shard is of this division, and notes it in a new one.
   *
   * @throws ServerException if it is of another one, or was never divided and is not new
   */
  static void check(TaskStore store, Placement placement, int shard) {
    Read<Optional<Document>> read = store.document(NOTE);
    int shards = placement.shards();
    if (read.value().isPresent()) {
      String noted = read.value().get().body().utf8();
      if (!noted.equals(note(shard, shards))) {
        throw new ServerException(
            "store.shards is %d, but this is %s; the number of shards of a store cannot be changed"
                .formatted(shards, noted));
      }
      return;
    }
    if (shards == 1) {
      return;
    }
    if (read.position().number() > 0) {
      throw new ServerException(
          "store.shards is %d, but the store is there already, in one piece; give the divided one another store.name"
              .formatted(shards));
    }
    store
        .commit(Transaction.by(Owner.client(1)).put(NOTE, 0, Bytes.of(note(shard, shards))).build())
        .done();
  }

  private static String note(int shard, int shards) {
    return "shard " + shard + " of " + shards;
  }
}
