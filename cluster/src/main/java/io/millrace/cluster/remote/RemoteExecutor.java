package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lambda.SerializableLambda;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.DeathMarks;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.dispatch.Dispatcher;
import io.millrace.cluster.remote.dispatch.Submission;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs lambdas on the members of a cluster, for the leader's program. It is valid until leadership
 * is lost. It decouples the program, which may block, from the leader's thread, which must not:
 * once per round they exchange requests of the program and a view of the cluster. Safe for use by
 * any number of threads.
 */
public final class RemoteExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteExecutor.class);
  private static final long POLL_MILLIS = 1000;

  private final Member member;
  private final LambdaCodec codec;
  private final Guard leader;
  // Runs handlers one after the other.
  private final ExecutorService handlers =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("handlers").factory());
  private final AtomicLong numbers = new AtomicLong();
  private final Map<String, Backlog> backlogs = new ConcurrentHashMap<>();
  private final Object lock = new Object();
  private final Map<String, Integer> running = new HashMap<>();
  // Members that were marked as dead, and that the view does not show as such yet.
  private final Set<String> marked = new HashSet<>();
  private final List<Consumer<Dispatcher>> orders = new ArrayList<>();
  private final Set<ExecutionFuture<?>> open = new HashSet<>();
  private Dispatcher.View view = Dispatcher.View.nothing();
  private boolean over;

  RemoteExecutor(Member member, LambdaCodec codec, Guard leader) {
    this.member = member;
    this.codec = codec;
    this.leader = leader;
  }

  /** Passes the program's requests to the dispatcher, and takes its view of the cluster. */
  void exchange(Dispatcher dispatcher) {
    synchronized (lock) {
      orders.forEach(order -> order.accept(dispatcher));
      orders.clear();
      view = dispatcher.view();
      marked.clear();
      lock.notifyAll();
    }
  }

  /** Called when leadership is lost. */
  void end() {
    List<ExecutionFuture<?>> abandoned;
    synchronized (lock) {
      over = true;
      orders.clear();
      abandoned = List.copyOf(open);
      lock.notifyAll();
    }
    handlers.shutdownNow();
    abandoned.forEach(ExecutionFuture::abandon);
  }

  private void check() {
    leader.check();
    if (over) {
      throw new LeaseLostException("the lease with fence " + leader.fence() + " has ended");
    }
  }

  /**
   * The members with an idle worker, each once, those with the most idle workers first. They are in
   * the list of members, not marked as dead, and have fewer lambdas than workers. Waits until there
   * is one.
   *
   * @return at least one
   * @throws LeaseLostException if this member no longer leads
   */
  public List<RemoteMember> idleMembers() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    synchronized (lock) {
      while (true) {
        check();
        List<Peer> idle = idle();
        if (!idle.isEmpty()) {
          return idle.stream().map(peer -> new RemoteMember(this, peer)).toList();
        }
        long max = Math.min(leader.remaining().toMillis() + 1, POLL_MILLIS);
        lock.wait(max);
      }
    }
  }

  /** The members with idle workers, most idle workers first, then in the order of the list. */
  private List<Peer> idle() {
    return view.members().nodes().stream()
        .filter(peer -> idleWorkers(peer) > 0 && !marked.contains(peer.token()))
        .sorted(Comparator.comparingInt(this::idleWorkers).reversed())
        .toList();
  }

  private int idleWorkers(Peer peer) {
    return peer.workers()
        - running.getOrDefault(peer.token(), 0)
        - view.busy().getOrDefault(peer.token(), 0);
  }

  /**
   * Returns a backlog of items to be worked on, which is kept in documents.
   *
   * @param name 1 to 64 letters of {@code a} to {@code z}, digits, {@code -} and {@code _}
   */
  public Backlog backlog(String name) {
    return backlogs.computeIfAbsent(
        name, key -> new LeaderBacklog(key, member.context(), leader, this::isOver));
  }

  private boolean isOver(long generation) {
    synchronized (lock) {
      return view.isOver(generation);
    }
  }

  /**
   * Submits a lambda to a member.
   *
   * @param max the time limit in milliseconds; {@link Long#MAX_VALUE} for none
   */
  <T extends @Nullable Object> ExecutionFuture<T> submit(
      Peer peer, SerializableLambda<T> lambda, long max) {
    leader.check();
    PartitionName name = new PartitionName(leader.fence(), numbers.incrementAndGet());
    Address address = new Address(name, peer.token());
    String envelope = Base64.getEncoder().encodeToString(codec.sealLambda(address, lambda));
    long limitMillis = max == Long.MAX_VALUE ? max : member.context().now() + max;
    ExecutionFuture<T> execution = new ExecutionFuture<>(address, this);
    Submission submission =
        new Submission(address, envelope, limitMillis, execution::begun, execution::ended);
    synchronized (lock) {
      check();
      open.add(execution);
      running.merge(peer.token(), 1, Integer::sum);
      orders.add(dispatcher -> dispatcher.submit(submission));
    }
    member.wakeLeader();
    return execution;
  }

  /** Marks a member as dead. */
  void markDead(String token) {
    new RetryingWriter(leader, member.context().terms())
        .repeat(() -> DeathMarks.mark(member.context().documents(), token, leader.fence()));
    synchronized (lock) {
      check();
      marked.add(token);
      orders.add(dispatcher -> dispatcher.marked(token));
    }
    member.wakeLeader();
  }

  Guard leader() {
    return leader;
  }

  LambdaCodec codec() {
    return codec;
  }

  void cancel(ExecutionFuture<?> execution) {
    synchronized (lock) {
      orders.add(dispatcher -> dispatcher.cancel(execution.address().partition()));
    }
    member.wakeLeader();
  }

  void ended(ExecutionFuture<?> execution) {
    synchronized (lock) {
      open.remove(execution);
      running.computeIfPresent(execution.address().member(), (_, n) -> n > 1 ? n - 1 : null);
      lock.notifyAll();
    }
  }

  /** Runs a handler after all earlier ones, unless leadership is lost by then. */
  void handle(String id, Runnable handler) {
    try {
      handlers.execute(() -> run(id, handler));
    } catch (RejectedExecutionException e) {
      LOG.debug("A handler of {} is not run, because leadership was lost", id, e);
    }
  }

  private void run(String id, Runnable handler) {
    if (!leader.isHeld()) {
      return;
    }
    try {
      member.run(
          leader,
          () -> {
            handler.run();
            return true;
          });
    } catch (Exception | LinkageError | StackOverflowError | AssertionError e) {
      LOG.warn("A handler of lambda {} failed", id, e);
    }
  }
}
