package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lambda.SerializableLambda;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.member.Seat;
import io.millrace.cluster.membership.DeathMarks;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.dispatch.Desk;
import io.millrace.cluster.remote.dispatch.Submission;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The crew of one leader while it leads: between its program, which waits, and the leader's thread,
 * which does not.
 */
final class LiveCrew implements Crew, Execution.Context {
  private static final long LOOK_MILLIS = 1000;

  private final Seat seat;
  private final LambdaCodec codec;
  private final Guard leader;
  private final Handlers handlers;
  private final AtomicLong numbers = new AtomicLong();
  private final Map<String, Backlog> backlogs = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Roster roster = new Roster();
  private final List<Consumer<Desk>> orders = new ArrayList<>();
  private final Set<Execution<?>> open = new HashSet<>();
  private boolean over;

  LiveCrew(Seat seat, LambdaCodec codec, Guard leader) {
    this.seat = seat;
    this.codec = codec;
    this.leader = leader;
    this.handlers = new Handlers(seat, leader);
  }

  /** Hands over what the program wants, and shows it what the leader sees. */
  void direct(Desk desk) {
    lock.lock();
    try {
      orders.forEach(order -> order.accept(desk));
      orders.clear();
      roster.see(desk.view());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Leadership is lost. */
  void end() {
    List<Execution<?>> abandoned;
    lock.lock();
    try {
      over = true;
      orders.clear();
      abandoned = List.copyOf(open);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    handlers.end();
    abandoned.forEach(Execution::abandon);
  }

  private void check() {
    leader.check();
    if (over) {
      throw new LeaseLostException("the lease with fence " + leader.fence() + " has ended");
    }
  }

  @Override
  public List<CrewMember> idleMembers() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (true) {
        check();
        List<Peer> idle = roster.idle();
        if (!idle.isEmpty()) {
          return idle.stream().<CrewMember>map(peer -> new LiveMember(this, peer)).toList();
        }
        long most = Math.min(leader.remaining().toMillis() + 1, LOOK_MILLIS);
        changed.awaitNanos(TimeUnit.MILLISECONDS.toNanos(most));
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Backlog backlog(String name) {
    return backlogs.computeIfAbsent(
        name, key -> new LeaderBacklog(key, seat.station(), leader, this::isOver));
  }

  private boolean isOver(long generation) {
    lock.lock();
    try {
      return roster.view().isOver(generation);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Has a member run a lambda.
   *
   * @param most how long at most, in milliseconds; {@link Long#MAX_VALUE} for no limit
   */
  <T extends @Nullable Object> ExecutionFuture<T> submit(
      Peer peer, SerializableLambda<T> lambda, long most) {
    leader.check();
    PartitionName name = new PartitionName(leader.fence(), numbers.incrementAndGet());
    Address address = new Address(name, peer.token());
    String envelope = Base64.getEncoder().encodeToString(codec.sealLambda(address, lambda));
    long limitMillis = most == Long.MAX_VALUE ? most : seat.station().now() + most;
    Execution<T> execution = new Execution<>(address, this);
    Submission submission = new Submission(address, envelope, limitMillis, execution);
    lock.lock();
    try {
      check();
      open.add(execution);
      roster.submitted(peer.token());
      orders.add(desk -> desk.submit(submission));
    } finally {
      lock.unlock();
    }
    seat.callLeader();
    return execution;
  }

  /** Trusts a member no more. */
  void markDead(String token) {
    DeathMarks marks = new DeathMarks(seat.station().documents());
    new Persistence(leader, seat.station().terms())
        .persist(() -> {
          marks.mark(token, leader.fence());
          return true;
        });
    lock.lock();
    try {
      check();
      roster.marked(token);
      orders.add(desk -> desk.marked(token));
    } finally {
      lock.unlock();
    }
    seat.callLeader();
  }

  @Override
  public Guard leader() {
    return leader;
  }

  @Override
  public LambdaCodec codec() {
    return codec;
  }

  @Override
  public Handlers handlers() {
    return handlers;
  }

  @Override
  public void cancel(Execution<?> execution) {
    lock.lock();
    try {
      orders.add(desk -> desk.cancel(execution.address().partition()));
    } finally {
      lock.unlock();
    }
    seat.callLeader();
  }

  @Override
  public void ended(Execution<?> execution) {
    lock.lock();
    try {
      open.remove(execution);
      roster.ended(execution.address().member());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
