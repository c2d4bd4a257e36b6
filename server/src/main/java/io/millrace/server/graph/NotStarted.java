package io.millrace.server.graph;

import io.millrace.blobs.Tail;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeId;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The output of what runs before a scheduler is there: nobody knows of any. */
final class NotStarted implements GraphWork.Outputs {
  private final CountDownLatch never = new CountDownLatch(1);

  @Override
  public @Nullable Tail of(NodeId id, String key) {
    return null;
  }

  @Override
  public boolean isKnown(NodeId id, Duration within) throws InterruptedException {
    return never.await(within.toNanos(), TimeUnit.NANOSECONDS);
  }
}
