package io.millrace.queues.node;

import io.millrace.queues.registry.Queues;
import io.millrace.store.Commit;
import io.millrace.store.TaskStore;
import io.millrace.work.MonotonicClock;
import io.millrace.work.StepLoop;
import io.millrace.work.Subscriber;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of an execution node: one calls its steps, another passes on the changes of the
 * store. Safe for use by threads.
 */
public final class NodeDriver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDriver.class);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final ExecutionNode node;
  private final StepLoop loop;
  private final News news;

  private NodeDriver(ExecutionNode node, Function<ExecutionNode, News> source) {
    this.node = node;
    this.loop = StepLoop.start("millrace-node", new MonotonicClock(), node);
    node.wakeBy(loop::wake);
    this.news = source.apply(node);
  }

  /**
   * Starts a node.
   *
   * @param store the source of the changes; not closed by the driver
   */
  public static NodeDriver start(ExecutionNode node, TaskStore store) {
    return start(
        node,
        it ->
            Subscriber.start("millrace-node-news", store, Queues.interest(), new Changes(it))
                ::close);
  }

  /**
   * Starts a node.
   *
   * @param source begins to tell the node what changes, by {@link ExecutionNode#notice}, and that
   *     it does so, by {@link ExecutionNode#subscribed}
   */
  public static NodeDriver start(ExecutionNode node, Function<ExecutionNode, News> source) {
    return new NodeDriver(node, source);
  }

  /** Tells a node what changes, until it is closed. */
  @FunctionalInterface
  public interface News {
    /** Tells it nothing more. */
    void close();
  }

  /** Completes when the node has ended, by itself or by {@link #close}. */
  public CompletableFuture<Void> onEnd() {
    return loop.onEnd();
  }

  private record Changes(ExecutionNode node) implements Subscriber.Listener {
    @Override
    public void opened() {
      node.subscribed();
    }

    @Override
    public void committed(Commit commit) {
      node.notice(commit);
    }
  }

  /**
   * Ends the node in order: it gives back its name and the tasks that no runner has begun. Running
   * tasks go on. If the store cannot be reached, it gives up after ten seconds.
   */
  @Override
  public void close() {
    node.stop();
    if (!loop.close(PATIENCE)) {
      LOG.warn("the node ends without the store, which cannot be reached");
    }
    news.close();
  }
}
