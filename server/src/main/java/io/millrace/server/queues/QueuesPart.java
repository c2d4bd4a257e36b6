package io.millrace.server.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Route;
import io.millrace.queues.Queues;
import io.millrace.queues.Sweeper;
import io.millrace.server.Part;
import io.millrace.server.security.Token;
import io.millrace.store.TaskStore;
import java.time.Clock;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The queues within a server. */
public final class QueuesPart implements Part {
  private final Queues queues;
  private final TaskStore store;
  private final BlobStore blobs;
  private final Sweeper sweeper;
  private final @Nullable Token token;

  private QueuesPart(
      Queues queues, TaskStore store, BlobStore blobs, Sweeper sweeper, @Nullable Token token) {
    this.queues = queues;
    this.store = store;
    this.blobs = blobs;
    this.sweeper = sweeper;
    this.token = token;
  }

  /**
   * Opens them. No lease ran down while there was no server: all begin anew, before any claim.
   *
   * @param token the server's, which clients may show by HTTP Basic too; null for none
   * @param mostDataBytes the longest data of a task that the store takes
   */
  public static QueuesPart open(
      TaskStore store,
      BlobStore blobs,
      QueuesSettings settings,
      @Nullable Token token,
      RandomGenerator random,
      int mostDataBytes) {
    Queues queues = Queues.in(store, Clock.systemUTC(), random, mostDataBytes);
    queues.runs().reviveAll(settings.lease());
    Sweeper sweeper = Sweeper.of(store, blobs, settings.sweep(), Clock.systemUTC(), random);
    return new QueuesPart(queues, store, blobs, sweeper, token);
  }

  /** The queues. */
  public Queues queues() {
    return queues;
  }

  @Override
  public List<Route> routes() {
    return DciApi.routes(queues, store, blobs, token);
  }

  @Override
  public void addErrorReplies(ErrorReplies replies) {
    DciApi.addErrorReplies(replies);
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("sweeper", sweeper));
  }
}
